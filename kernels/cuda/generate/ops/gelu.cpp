#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

namespace {

bool is_by_tanh(const Instruction& gelu) {
  const auto* form = gelu.attributes.get<Keyword>("approximate");
  return form != nullptr && form->word == "tanh";
}

}  // namespace

CudaOp cuda_gelu() {
  return {.lane =
              [](const LaneCall& c) {
                return lane_call16(is_by_tanh(c.instruction) ? "op_gelu_tanh" : "op_gelu_erf", c);
              },
          .epilogue =
              [](const Instruction& gelu) {
                return is_by_tanh(gelu) ? CudaOp::Epilogue::kGelu : CudaOp::Epilogue::kNone;
              }};
}

}  // namespace hostir::cuda
