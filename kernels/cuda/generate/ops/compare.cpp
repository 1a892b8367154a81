#include <array>
#include <utility>

#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

namespace {

std::string lane_compare(const LaneCall& c) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOperators = {
      {{"eq", " == "},
       {"ne", " != "},
       {"lt", " < "},
       {"le", " <= "},
       {"gt", " > "},
       {"ge", " >= "}}};
  const auto* wanted = c.instruction.attributes.get<Keyword>("direction");
  std::string_view found = kOperators[0].second;
  for (const auto& [word, text] : kOperators) {
    if (wanted != nullptr && wanted->word == word) found = text;
  }
  return c.lanes[0] + std::string(found) + c.lanes[1];
}

}  // namespace

CudaOp cuda_compare() { return {.lane = lane_compare, .is_cheap = true}; }

}  // namespace hostir::cuda
