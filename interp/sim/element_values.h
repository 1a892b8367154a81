// The ops of a kernel on parts of its values: what one element of a result needs.
//
// 1. Backwards from the element: which box of each operand an op needs, by its factor rule. An op
// that only moves elements is asked itself, by running it on indices instead of values: a slice or
// concat then needs one element. 2. Forwards: each op alone, compiled for these boxes by the kernel
// set of the run, on parts of its operands. New ops need nothing here: what no rule tells is read
// whole.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "interp/core/element.h"
#include "kernels/cpu/kernel.h"

namespace hostir::sim {

/// Local contents of a parameter: row-major over the box, or in block order for packed ones.
using ReadParameter = std::function<std::vector<std::byte>(size_t parameter, const Box& box)>;

/// kNeeded: only what the element needs is computed. kWhole: every value as the rank holds it, so
/// that products and sums are made in the shapes of the launch.
enum class ElementExtent : uint8_t { kNeeded, kWhole };

struct EvaluatedElement {
  std::vector<interp::ElementStep> steps;  // that it needs, in order
  Tensor value;                            // one element
};

/// The element of the kernel's `result`-th result, step by step. Errors: those of rules and of
/// compiling.
Expected<EvaluatedElement> evaluate_element(const Program& program, const cpu::BoundKernel& kernel,
                                            cpu::KernelSet set, ElementExtent extent, size_t result,
                                            const std::vector<int64_t>& element,
                                            const ReadParameter& read);

/// A part of a value that lies row-major over its placement's box or in its block order.
Tensor part_of(const Placement& placement, const std::byte* data, const Box& box);

}  // namespace hostir::sim
