// Plans matrix products: from the operands' views and boxes to the input of ContractionStep.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "kernels/cpu/plan/contraction_step.h"

namespace hostir::cpu {

/// The view through which a value is read over its box.
using ViewOf = std::function<StridedView(uint32_t)>;

/// True if the op is a matrix product of floats.
bool is_product(const BoundKernel& kernel, const Instruction& instruction);

/// The product without its epilogue. Null if the operands' boxes do not correspond dimension by
/// dimension; the reference loops handle those.
std::unique_ptr<ContractionPlan> plan_contraction(const BoundKernel& kernel,
                                                  const Instruction& instruction,
                                                  const ViewOf& view_of);

/// The bias of a linear, as a view over the result's box; nullopt if it has none.
std::optional<StridedView> plan_bias(const BoundKernel& kernel, const Instruction& instruction,
                                     const ViewOf& view_of);

}  // namespace hostir::cpu
