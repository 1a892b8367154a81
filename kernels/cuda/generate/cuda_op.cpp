#include "kernels/cuda/generate/cuda_op.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "hostir/ops/record.h"

namespace hostir::cuda {

#define HOSTIR_COMPUTE_OP(name) CudaOp cuda_##name();
#define HOSTIR_COMPOSITE_OP(name)
#include "hostir/ir/ops.def"

namespace {

CudaOp composite() {
  return {.form = CudaOp::Form::kNone,
          .missing = "it should have been expanded into other ops first"};
}

}  // namespace

const CudaOp& cuda_op(OpKind kind) {
  // Compute ops come first in ops.def; host ops and communication are never queried.
  static const std::array<CudaOp, kOpCount> ops = {
#define HOSTIR_COMPUTE_OP(name) cuda_##name(),
#define HOSTIR_COMPOSITE_OP(name) composite(),
#include "hostir/ir/ops.def"
  };
  return ops[static_cast<size_t>(kind)];
}

bool is_mean(OpKind kind) { return record(kind).fold == Reduction::kAvg; }

Reduction fold_of(OpKind kind) {
  return is_mean(kind) ? Reduction::kSum : record(kind).fold.value_or(Reduction::kSum);
}

std::string lane_call(std::string_view fn, const LaneCall& call) {
  return fmt::format("{}({})", fn, fmt::join(call.lanes, ", "));
}

std::string lane_call16(std::string_view fn, const LaneCall& call) {
  return lane_call(is_16_bit_float(call.out.dtype) ? fmt::format("{}16", fn) : std::string(fn),
                   call);
}

std::string literal(DType dtype, double real) {
  const bool wide = dtype == DType::kF64;
  if (!is_float(dtype)) return literal(dtype, static_cast<int64_t>(real));
  if (std::isnan(real))
    return wide ? "__longlong_as_double(0x7ff8000000000000ll)" : "__int_as_float(0x7fc00000)";
  if (std::isinf(real)) return fmt::format("{}{}", real < 0 ? "-" : "", wide ? "kInf64" : "kInf32");
  // Exact, and with a decimal point so that it is not an integer.
  return fmt::format("{:a}{}", real, wide ? "" : "f");
}

std::string literal(DType dtype, int64_t integer) {
  if (dtype == DType::kU64) return fmt::format("({}ull)", static_cast<uint64_t>(integer));
  if (dtype == DType::kU32) return fmt::format("({}u)", integer);
  if (dtype != DType::kI64) return fmt::format("({})", integer);
  if (integer == INT64_MIN) return "(-0x7fffffffffffffffll - 1)";
  return fmt::format("({}ll)", integer);
}

}  // namespace hostir::cuda
