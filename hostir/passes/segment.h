// Cutting a fusion into kernels.
//
//   1. Ops in order. A contraction opens a group; pointwise ops on its result, of the same shape
//   and
//      layout, join it as its epilogue. Other pointwise ops, index maps and reductions join the
//      last group that one of their operands is from, if that is a group of their like, else open
//      one.
//   2. Where operands come from two such groups, the earlier one is merged into the later if
//   nothing
//      between them needs it.
//   3. Sources, and index maps of parameters and sources, wait for their users and are computed in
//      each of them again: they cost less than a buffer.
//   4. A reshard stands alone; so does what it reads.
//   5. Each group becomes a kernel: parameters in order of first use, results what others need or
//      `keep` names. Equal kernels are shared.
// Groups are numbered in an order in which they can run. Shapes stay global, all values keep their
// shardings. Absent here: buffers, streams (lower_host.h).
#pragma once

#include <span>
#include <variant>

#include "hostir/passes/fusion_info.h"

namespace hostir {

/// One application of a kernel to values of the fusion.
struct KernelUse {
  std::string kernel;
  std::vector<ValueId> reads;
  std::vector<ValueId> writes;
  std::vector<OpRef> from;
};

struct Segments {
  std::vector<std::variant<KernelUse, InstrId>> items;  // a kernel or a reshard, in running order
  std::vector<Function> kernels;
};

/// `fusion` after split_reshards(). `keep`: names of values that must stay visible; unknown ones
/// are left to the caller. Kernel names are unique in `program`.
Segments segment(const Program& program, const Function& fusion, std::span<const std::string> keep);

/// A kernel with one op, named after it: for reshards that are local, pack and unpack.
Function single_op_kernel(std::string name, Instruction op, const TensorType& from,
                          const TensorType& to, const std::string& in_name,
                          const std::string& out_name);

}  // namespace hostir
