// Checks what layouts claim about partial values, before anything runs.
//
// A buffer with `unreduced={tp}` holds one addend per rank. Layouts are known in text order, so the
// effect of each instruction on partial values is known too. A combining collective must reduce
// exactly the axes and kind that the layout declares. A kernel may use a partial operand only
// linearly, as its ops' records say. A result must be declared exactly as partial as it is. Only
// contradictions are errors: plain `tensor<...>` buffers, groups given as lists, and products over
// sharded dimensions make no claim.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/core/code/code.h"

namespace hostir::interp {

/// Returns every error, not only the first: `partial_claim`, `collective_layout`, `view_layout`,
/// `block_order`, each at its operand.
Expected<void> check_partial_claims(const Code& code);

/// A reduction over axes along which the layout says that the value is whole or cut, not partial.
struct MisplacedReduction {
  CodeIndex code = 0;
  size_t operand = 0;
  std::string sentence;
};
/// Reported at the end of a run, after the fault that ended it, because a hang is more important.
/// Not reported: reductions of constants only (a demonstration, a counter of ranks), and parts of a
/// single index, which are separate values.
std::vector<MisplacedReduction> misplaced_reductions(const Code& code);

/// A sum over a dimension that mesh axes cut, in a plain buffer that nothing reduces; at most one
/// rank's addend is broadcast or scattered. Each rank keeps an addend that no layout declares.
struct PlainSum {
  CodeIndex made = 0;   // the launch that sums
  std::string claim;    // `a partial sum over {dp}`
  std::string made_by;  // `reduce_sum in kernel @loss sums over ..., so its result is a ...`
  std::vector<CodeIndex> readers;    // launches
  CodeIndex returned = kNoCode;      // the return of the entry function that returns it
  CodeIndex given_to_all = kNoCode;  // the broadcast or scatter of one rank's addend
  std::string result;                // `%l`, if returned or given to all
};
/// In text order. A rank may want its own addend, so these explain differing replicas and results,
/// and are not errors by themselves.
std::vector<PlainSum> plain_sums(const Code& code);

/// A sentence if the recv's layout claims a whole value where the send's declares an addend;
/// nullopt if not, or if the layouts do not show it.
std::optional<std::string> received_addends(const Code& code, CodeIndex send, CodeIndex recv);

}  // namespace hostir::interp
