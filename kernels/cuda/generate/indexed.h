// Ops that find elements by position or content (take, put, sort, ...): what `ops/<mnemonic>.cpp`
// gives as the text of one thread's work, over global indices.
//
// Operands are memory or views of it, never registers: such an op is a launch of its own. Index
// variables in the text are `i64t`. Arguments are the operands, the results, then scratch memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/generate/group.h"

namespace hostir::cuda {

/// How a launch of an indexed op divides its work.
struct IndexedKernel {
  std::string body;  // of one thread; `block` and `kThreads` are known
  int64_t blocks = 1;
  int threads = 256;
  int64_t scratch_bytes = 0;  // one more argument, aligned to 256; 0: none
};

/// One indexed op, bound: its operands' places and text for reaching their elements.
class IndexedCall {
 public:
  struct Operand {
    const Placement* placement = nullptr;
    Walk walk;  // over its box
  };
  using Names = std::vector<std::string>;  // texts of global indices, by dimension

  const Instruction& instruction;
  const SizeBindings& sizes;
  std::vector<Operand> in;
  std::vector<const Placement*> out;

  const Placement& result() const { return *out[0]; }
  /// The attribute `dim`, negative ones counted from the end of `rank` dimensions.
  size_t dim(size_t rank) const;

  /// An element of an operand as its memory holds it (`in<f32>(a.p[0])[..]`), and as a number.
  std::string element(size_t operand, const Names& index) const;
  std::string value(size_t operand, const Names& index) const;
  /// The condition that the index lies in the operand's box.
  std::string holds(size_t operand, const Names& index) const;
  /// The memory of a result, dense over its box.
  std::string result_memory(size_t result = 0) const;
  std::string scratch() const;

  /// Begins a body with a thread for every element of the first result: defines its place `t` in
  /// memory and its global index `g0`, `g1`, ...
  std::string for_each_element() const;
  /// `count` threads; `t` is the thread's number.
  static std::string for_each(int64_t count);
  /// Defines `g<d>` of the dimensions but `dim` from `row`, a number of a row along `dim` of the
  /// first result, and `first`, its place in memory; `row_step()` elements lie between two of it.
  std::string row_indices(size_t dim) const;
  int64_t row_count(size_t dim) const;
  int64_t row_step(size_t dim) const;

  /// `g0`, `g1`, ... as many as there are dimensions.
  static Names names(std::string_view prefix, size_t count);
  static constexpr int kThreads = 256;
  IndexedKernel per_element(std::string body) const;
};

/// Where the box of dynamic_slice and dynamic_update_slice begins: lines that define `s0`, `s1`, ..
/// from the scalar operands `first`.., moved so that a box of `box` lies within `extents`.
std::string start_lines(const IndexedCall& call, size_t first, const Extents& extents,
                        const Extents& box);
/// put and put_along: `target` is the position along `dim` that the update at `u0`, `u1`, .. goes
/// to; `loops` are the dimensions of the updates that a row of the result gets them from, the
/// others have the index of the result's dimension `columns` says.
IndexedKernel put_kernel(const IndexedCall& call, size_t dim, const std::string& target,
                         const std::vector<int>& columns);

}  // namespace hostir::cuda
