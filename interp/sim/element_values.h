// Evaluates a kernel's ops on parts of its values: only what one element of a result needs.
//
// 1. Backwards from the element: each op's factor rule gives the box needed of each operand. An op
//    that only moves elements is run on indices instead of values, so that a slice or concat needs
//    only one element.
// 2. Forwards: each op alone, compiled for these boxes with the run's kernel set, on parts of its
//    operands.
// New ops need nothing here: operands without a rule are read whole.
#pragma once

#include <functional>
#include <vector>

#include "interp/core/element.h"
#include "kernels/cpu/kernel.h"

namespace hostir::sim {

/// Reads local contents of a parameter: row-major over the box, or in block order if packed.
using ReadParameter = std::function<std::vector<std::byte>(size_t parameter, const Box& box)>;

/// kNeeded: compute only what the element needs. kWhole: compute every value as the rank holds it,
/// so that products and sums have the shapes of the launch.
enum class ElementExtent : uint8_t { kNeeded, kWhole };

struct EvaluatedElement {
  std::vector<interp::ElementStep> steps;  // the needed ones, in order
  Tensor value;                            // one element
};

/// An element of the kernel's `result`-th result, step by step.
/// Errors: those of the rules and of compilation.
Expected<EvaluatedElement> evaluate_element(const Program& program, const cpu::BoundKernel& kernel,
                                            cpu::KernelSet set, ElementExtent extent, size_t result,
                                            const std::vector<int64_t>& element,
                                            const ReadParameter& read);

/// A part of a value that is stored row-major over its placement's box or in its block order.
Tensor part_of(const Placement& placement, const std::byte* data, const Box& box);

}  // namespace hostir::sim
