#include <fmt/format.h>

#include "kernels/cuda/generate/emit_common.h"
#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

// One warp per row: 32 elements at a time, plus the sum of the earlier ones. Floats accumulate in
// f64.
IndexedKernel kernel_cumsum(const IndexedCall& call) {
  const Placement& out = call.result();
  const size_t dim = call.dim(out.global.size());
  const int64_t rows = call.row_count(dim);
  const int64_t length = out.local()[dim];
  const bool backwards = call.instruction.attributes.get_or<bool>("reverse", false);
  const bool real = is_float(out.dtype);
  IndexedCall::Names index = IndexedCall::names("g", out.global.size());
  index[dim] = fmt::format("(at + {})", out.box.lo[dim]);
  std::string body = fmt::format(
      "  const i64t row = ((i64t)block * kThreads + threadIdx.x) / 32;\n"
      "  const int lane = threadIdx.x % 32;\n  if (row >= {}) return;\n",
      rows);
  body += call.row_indices(dim);
  body += fmt::format("  {} before = 0;\n  for (i64t i = lane; i - lane < {}; i += 32) {{\n",
                      real ? "double" : "i64t", length);
  body += backwards ? fmt::format("    const i64t at = {} - i;\n", length - 1)
                    : "    const i64t at = i;\n";
  body += fmt::format("    {} x = 0;\n    if (i < {}) x = {};\n", real ? "double" : "i64t", length,
                      call.value(0, index));
  body += "    x = op_add(before, warp_scan(x, lane));\n";
  body += fmt::format(
      "    if (i < {}) set_item<{}>({} + first + at * {}, ({}::reg)x);\n"
      "    before = __shfl_sync(0xffffffffu, x, 31);\n  }}\n",
      length, name(out.dtype), call.result_memory(), call.row_step(dim), name(out.dtype));
  return {std::move(body), ceil_div(rows, IndexedCall::kThreads / 32), IndexedCall::kThreads};
}

}  // namespace

CudaOp cuda_cumsum() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_cumsum}; }

}  // namespace hostir::cuda
