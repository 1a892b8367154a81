// Matrix products: from operands' views and boxes to what ContractionStep runs.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "kernels/cpu/contraction_step.h"

namespace hostir::cpu {

/// How to reach a value: a view of memory over its box.
using ViewOf = std::function<StridedView(uint32_t)>;

/// True if the op is a matrix product of floats.
bool is_product(const BoundKernel& kernel, const Instruction& instruction);

/// The product without its epilogue. Null where the operands' boxes do not correspond dimension by
/// dimension; the plain loops take those.
std::unique_ptr<ContractionPlan> plan_contraction(const BoundKernel& kernel,
                                                  const Instruction& instruction,
                                                  const ViewOf& view_of);

/// The bias of a linear, seen from the result's box; nullopt if it has none.
std::optional<StridedView> plan_bias(const BoundKernel& kernel, const Instruction& instruction,
                                     const ViewOf& view_of);

}  // namespace hostir::cpu
