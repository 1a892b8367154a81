// Partitions a fusion into kernels.
//
//   1. Visit ops in order. A contraction opens a group; pointwise ops on its result with the same
//      shape and layout join it as its epilogue. Other pointwise ops, index maps and reductions
//      join the latest group that produces one of their operands if it is a loop group; else they
//      open a new one.
//   2. If operands come from two loop groups, the earlier one is merged into the later one unless
//      a group between them needs its values.
//   3. Sources, and index maps of parameters and sources, are deferred and recomputed in every
//      group that uses them: that costs less than a buffer.
//   4. The ops of a composite that reduces between two contractions (attention) are one group, so
//      that a device can keep the large values in between on chip, unless a reshard is between them
//      or another op needs such a value (a gradient). Index maps that only they read join them.
//   5. A reshard is a group of its own, and so is an `apply`, whose kernel is in the file. A
//      deferred value that it reads gets its own kernel.
//   6. Each group becomes a kernel. Its parameters are in order of first use; its results are the
//      values that other groups need or that `keep` names. Equal kernels are shared.
// Group numbers are a valid execution order. Shapes stay global and all values keep their
// shardings. lower_host.h adds buffers and streams.
#pragma once

#include <span>
#include <variant>

#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

/// One use of a kernel on values of the fusion.
struct KernelUse {
  std::string kernel;
  std::vector<ValueId> reads;
  std::vector<ValueId> writes;
  std::vector<OpRef> from;
};

struct Segments {
  std::vector<std::variant<KernelUse, InstrId>> items;  // kernels and reshards, in execution order
  std::vector<Function> kernels;
};

/// `fusion` is the output of split_reshards(). `keep`: Origins of values that must stay visible.
/// Kernel names are unique in `program`.
Segments segment(const Program& program, const Function& fusion, std::span<const ValueId> keep);

/// A kernel with a single op, for local reshards, pack and unpack.
Function single_op_kernel(std::string name, Instruction op, const TensorType& from,
                          const TensorType& to, const std::string& in_name,
                          const std::string& out_name);

}  // namespace hostir
