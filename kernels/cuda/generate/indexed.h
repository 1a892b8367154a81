// Ops that find elements by position or content (take, put, sort, ...): `ops/<mnemonic>.cpp` gives
// the code of one thread, in terms of global indices.
//
// Operands are in memory or views of it, never in registers, so such an op is a separate launch.
// Index variables in the code are `i64t`. Arguments are the operands, the results, then scratch
// memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/generate/group.h"

namespace hostir::cuda {

/// The code of an indexed op, and how its launch divides the work.
struct IndexedKernel {
  std::string body;  // of one thread; may use `block` and `kThreads`
  int64_t blocks = 1;
  int threads = 256;
  int64_t scratch_bytes = 0;  // an additional argument, aligned to 256; 0: none
};

/// One bound indexed op: the placements of its operands, and code to access their elements.
class IndexedCall {
 public:
  struct Operand {
    const Placement* placement = nullptr;
    Walk walk;  // over its box
  };
  using Names = std::vector<std::string>;  // code of global indices, by dimension

  const Instruction& instruction;
  std::vector<Operand> in;
  std::vector<const Placement*> out;

  const Placement& result() const { return *out[0]; }
  /// The attribute `dim`; negative values count from the end of `rank` dimensions.
  size_t dim(size_t rank) const;

  /// An element of an operand as stored in memory (`in<f32>(a.p[0])[..]`), and as a number.
  std::string element(size_t operand, const Names& index) const;
  std::string value(size_t operand, const Names& index) const;
  /// A condition: the index is inside the operand's box.
  std::string holds(size_t operand, const Names& index) const;
  /// The memory of a result, dense over its box.
  std::string result_memory(size_t result = 0) const;
  std::string scratch() const;

  /// Starts a body with one thread per element of the first result: defines its memory position `t`
  /// and its global index `g0`, `g1`, ...
  std::string for_each_element() const;
  /// Starts a body with `count` threads; `t` is the thread's number.
  static std::string for_each(int64_t count);
  /// Defines `g<d>` for all dimensions except `dim` from `row`, the number of a row along `dim` of
  /// the first result, and `first`, the row's position in memory. Consecutive elements of the row
  /// are `row_step()` apart.
  std::string row_indices(size_t dim) const;
  int64_t row_count(size_t dim) const;
  int64_t row_step(size_t dim) const;

  /// `g0`, `g1`, ..., one per dimension.
  static Names names(std::string_view prefix, size_t count);
  static constexpr int kThreads = 256;
  IndexedKernel per_element(std::string body) const;
};

/// The start of the box of dynamic_slice and dynamic_update_slice: lines that define `s0`, `s1`, ..
/// from the scalar operands from `first` on, clamped so that a box of size `box` fits in `extents`.
std::string start_lines(const IndexedCall& call, size_t first, const Extents& extents,
                        const Extents& box);
/// Code of put and put_along. `target`: the position along `dim` to which the update at `at0`,
/// `at1`,
/// .. goes. `loops`: the dimensions of the updates over which a row of the result loops; the other
/// dimensions take the index of the result's dimension given by `columns`.
IndexedKernel put_kernel(const IndexedCall& call, size_t dim, const std::string& target,
                         const std::vector<int>& columns);

}  // namespace hostir::cuda
