// Helpers shared by the layout claim checks: axes, wording, launches, and which ranks execute an
// instruction.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/core/code/code.h"

namespace hostir::interp::claims {

using AxisList = std::vector<AxisRef>;

tl::unexpected<Error> contradiction(std::string sentence, const Operand& operand);

AxisList without(const AxisList& axes, const AxisList& removed);
AxisList both(const AxisList& a, const AxisList& b);
/// Axes of more than one position; the others cut nothing and repeat nothing.
AxisList cutting(const Mesh& mesh, const AxisList& axes);
/// The axes along which a communicator's groups lie: those of its `over`, or the mesh axes whose
/// groups equal its literal groups. Empty if there are none.
AxisList spanned(const Mesh& mesh, const Communicator& comm);
/// Splits axes into sub-axes until any two of all lists are equal or have no position in common, so
/// that lists can be compared axis by axis. Returns false and leaves the lists unchanged if that is
/// impossible (`a:(1)2` and `a:(1)3` of an axis of size 6).
bool split_alike(const Mesh& mesh, const std::vector<AxisList*>& lists);
/// `{dp, tp}`
std::string text(const AxisList& axes);
/// Prints axes. Sub-axes that together make up a larger axis are printed as that axis.
std::string text(const Mesh& mesh, const AxisList& axes);
/// "a partial sum over {tp}", "whole".
std::string claim(const AxisList& axes, Reduction kind);

/// `[0:2, 4:8]`

/// True if a value of one shape can be a view of the other: as many dimensions and elements. The
/// same elements in a different number of dimensions may be a stack of parts, which is not checked.
bool may_be_view(const Extents& a, const Extents& b);
/// The elements of a box in row-major order, without the first `skip`.
struct BoxOfWhole {
  const Box& box;
  const Extents& whole;
  int64_t skip = 0;
};
/// The first of `count` elements whose row-major index in the global value of `a` differs from that
/// in the global value of `b`; nullopt if there is none. Large counts are only sampled.
std::optional<int64_t> first_apart(const BoxOfWhole& a, const BoxOfWhole& b, int64_t count);
/// `[1, 0] of 4x4`
std::string element_text(const BoxOfWhole& a, int64_t place);

/// nullptr if the layout does not say where its elements are.
const ShardType* shard(const Code& code, LayoutIndex layout);
/// The layout of an operand after the instruction.
LayoutIndex after(const CodeInstruction& c, size_t operand);
/// The operands that a communication op reads and writes; one `rw` operand is both.
struct Sides {
  std::optional<size_t> in;
  std::optional<size_t> out;
};
Sides sides_of(const CodeInstruction& c, const Instruction& source);
std::string buffer_name(const Code& code, const CodeInstruction& c, size_t operand);

/// True if at most one rank of each group over these axes executes the instruction. Considers only
/// the enclosing `where` conditions that depend on nothing but the rank.
bool one_rank_of_each_group(const Code& code, CodeIndex index, const AxisList& axes);

/// The registers that may name one buffer: names passed on and views.
class Aliases {
 public:
  explicit Aliases(const Code& code);
  /// Equal for two registers that may name one buffer.
  uint32_t group(uint32_t reg) const { return group_[reg]; }
  /// True if another name of the buffer changes its layout by `->`: then the layout of this name is
  /// out of date.
  bool relabelled_elsewhere(uint32_t reg) const;

 private:
  std::vector<uint32_t> group_;       // by register
  std::vector<uint32_t> relabelled_;  // registers with `->`
};

/// By register: true if the buffer may hold a different part than its layout says, because a recv,
/// a permute or an all_to_all wrote it under this name or another one.
std::vector<bool> moved_buffers(const Code& code, const Aliases& aliases);

/// Check what permute, all_to_all and views do to the boxes and partial values of their operands
/// against the layouts of their results. Errors: `partial_claim`, `collective_layout`,
/// `view_layout`.
Expected<void> check_routes(const Code& code, CodeIndex index, const std::vector<bool>& moved);
Expected<void> check_view(const Code& code, CodeIndex index, const std::vector<bool>& moved,
                          const Aliases& aliases);

/// A launch of a kernel function, with the launch's operands in the order of the kernel's.
struct Launch {
  const Code& code;
  CodeIndex index;
  const CodeInstruction& c;
  const Instruction& source;
  const Function& kernel;
  std::vector<size_t> in;   // operands by parameter
  std::vector<size_t> out;  // operands by result
};
/// nullopt if the instruction is not a launch.
std::optional<Launch> launch_of(const Code& code, CodeIndex index);

/// Checks that a kernel reads its operands in the order in which they are stored, row-major or in
/// blocks, and makes its results in the order that their layouts declare.
/// Errors: `block_order`.
Expected<void> check_block_order(const Code& code, CodeIndex index);

/// Checks the result layouts of a launch against what the kernel computes from partial or sharded
/// operands. `moved`: the result of moved_buffers().
/// Errors: `partial_claim`.
Expected<void> check_launch(const Code& code, CodeIndex index, const std::vector<bool>& moved);
/// The same for sums over cut dimensions that plain buffers carry from one launch to another: one
/// error for each launch that uses one as a whole value.
std::vector<Error> misused_plain_sums(const Code& code);

}  // namespace hostir::interp::claims
