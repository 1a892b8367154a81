#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

// One block per row sorts the positions of the row's elements with a bitonic network. Equal
// elements are ordered by position, which makes the sort stable. Short rows keep their positions in
// shared memory.
IndexedKernel kernel_sort(const IndexedCall& call) {
  constexpr int64_t kMostShared = 8192;
  const Placement& out = call.result();
  const size_t dim = call.dim(out.global.size());
  const int64_t length = out.local()[dim];
  const int64_t rows = call.row_count(dim);
  const bool descending = call.instruction.attributes.get_or<bool>("descending", false);
  int64_t width = 2;
  while (width < length) width *= 2;
  const bool is_shared = width <= kMostShared;
  IndexedKernel kernel;
  kernel.blocks = rows;
  kernel.threads = static_cast<int>(std::clamp<int64_t>(width / 2, 32, 512));
  if (!is_shared) kernel.scratch_bytes = rows * width * 4;

  IndexedCall::Names index = IndexedCall::names("g", out.global.size());
  index[dim] = fmt::format("(i + {})", out.box.lo[dim]);
  std::string& body = kernel.body;
  body = "  const i64t row = block;\n" + call.row_indices(dim);
  body += is_shared ? fmt::format("  __shared__ int order[{}];\n", width)
                    : fmt::format("  int* order = (int*){} + row * {};\n", call.scratch(), width);
  body += fmt::format("  const auto key = [&](i64t i) {{ return {}; }};\n", call.value(0, index));
  body += fmt::format("  sort_positions<{}>(order, {}, {}, key);\n", descending, length, width);
  body += fmt::format("  for (int i = threadIdx.x; i < {}; i += kThreads) {{\n", length);
  const std::string place = fmt::format("first + i * {}", call.row_step(dim));
  body += fmt::format("    set_item<{}>({} + {}, key(order[i]));\n", name(out.dtype),
                      call.result_memory(), place);
  if (call.out.size() > 1) {
    body += fmt::format("    set_item<{}>({} + {}, order[i]);\n", name(call.out[1]->dtype),
                        call.result_memory(1), place);
  }
  body += "  }\n";
  return kernel;
}

}  // namespace

CudaOp cuda_sort() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_sort}; }

}  // namespace hostir::cuda
