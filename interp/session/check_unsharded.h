// The sharded program equals the unsharded one (DESIGN invariant 4).
//
// Steps: run the lowered fusion and record every version of its buffers; run the same fusion
// without shardings on one rank, keeping the values that the sharded run had in buffers; then
// compare, in the order of the fusion's instructions, every value that exists on both sides by
// provenance (a buffer belongs to the fusion value whose instruction it came `from`). Partial
// values are reduced first, replicas must agree. The first difference names op, rank and element.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/session/compare.h"
#include "interp/session/engine.h"

namespace hostir::interp {

struct UnshardedDifference {
  std::string value;           // of the fusion, without '%'
  OpRef op;                    // the fusion instruction that makes it
  std::string instruction;     // `@mlp.host#9`: where the sharded run wrote it
  Rank rank = kNoRank;         // who holds the element
  std::vector<int64_t> index;  // global
  std::string sentence;        // all of it
};

struct UnshardedReport {
  std::vector<std::string> compared;  // values of the fusion, in order
  double largest_relative = 0;        // of the outputs: max |a - b| / max |b|
  std::optional<UnshardedDifference> difference;
};

/// Runs the prepared program again, recording, whatever ran before. Errors: those of prepare and
/// run; `check_fusion` where the function is no fusion; a fault of either run as its error.
Expected<UnshardedReport> check_unsharded(const Prepared& prepared,
                                          const BackendFactory& make_backend,
                                          const RunOptions& run_options,
                                          const Tolerance& tolerance);

/// The outputs of a fusion without shardings on one rank: what any distributed form must give.
Expected<std::vector<NamedOutput>> unsharded_outputs(
    const Program& program, const std::string& fusion,
    const std::vector<std::pair<std::string, Tensor>>& inputs, const BackendFactory& make_backend,
    const RunOptions& run_options);

}  // namespace hostir::interp
