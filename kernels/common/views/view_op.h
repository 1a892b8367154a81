// The ops whose result can be a view of their operand: view_<op>() in a file of this folder for
// each of them. CMake lists the files (view_ops.inc).
#pragma once

#include <optional>

#include "kernels/common/views.h"

namespace hostir::kernels {

/// One application of an op that moves elements.
struct Move {
  const BoundKernel& kernel;
  const Instruction& instruction;
  const Placement& in;
  const Placement& out;
  const StridedView& view;  // of the operand
};

/// The view of the result; nullopt if strides cannot express it.
using MoveFn = std::optional<StridedView> (*)(const Move&);
#define HOSTIR_VIEW_OP(op) std::optional<StridedView> view_##op(const Move& move);
#include "kernels/common/view_ops.inc"
#undef HOSTIR_VIEW_OP

}  // namespace hostir::kernels
