// The locations of a kernel's values during planning.
#pragma once

#include <string>
#include <vector>

#include "kernels/common/views.h"
#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

struct ValueState {
  enum class At : uint8_t {
    kNowhere,
    kMemory,   // in `buffer`, row-major over its box or in its block order
    kView,     // elements of `view.value` in another order
    kLiteral,  // the same number everywhere
    kGroup,    // a register of an open group, or a fold that will be stored to memory
  } at = At::kNowhere;
  int buffer = -1;
  kernels::StridedView view;
  std::string literal;
  int group = -1;
};

/// The live instructions, and the readers of each value.
class Readers {
 public:
  Readers(const kernels::BoundKernel& kernel, const std::vector<const Instruction*>& body);

  bool is_live(const Instruction& instruction) const;
  bool is_returned(uint32_t value) const { return returned_[value]; }
  const std::vector<const Instruction*>& of(uint32_t value) const { return readers_[value]; }

 private:
  std::vector<std::vector<const Instruction*>> readers_;  // live ones, by value
  std::vector<bool> returned_;
};

}  // namespace hostir::cuda
