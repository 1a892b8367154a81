#include <fmt/format.h>

#include <algorithm>

#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

// Lines that define `begin` and `end`, the rows of group `e` among all rows.
std::string rows_of_group(const IndexedCall& call) {
  const int64_t rows = call.in[0].placement->global[0];
  return fmt::format(
      "    i64t n = (i64t){};\n    n = n < 0 ? 0 : n;\n"
      "    const i64t begin = end;\n    end = n > {} - begin ? {} : begin + n;\n",
      call.value(2, {"e"}), rows, rows);
}

struct Bounds {
  int64_t lo;
  int64_t hi;
};
Bounds shared(const Box& a, size_t a_dim, const Box& b, size_t b_dim) {
  return {std::max(a.lo[a_dim], b.lo[b_dim]), std::min(a.hi[a_dim], b.hi[b_dim])};
}

// One thread per element: it finds the group of its row, or the rows of its group, and adds up.
IndexedKernel kernel_grouped_matmul(const IndexedCall& call) {
  const Placement& rows = *call.in[0].placement;
  const Placement& other = *call.in[1].placement;
  const DType dtype = call.result().dtype;
  const std::string sum = dtype == DType::kF64 ? "double" : "float";
  const bool matrices = other.global.size() == 3;
  std::string body = fmt::format("  {} sum = 0;\n  i64t end = 0;\n", sum);
  body += fmt::format("  for (i64t e = 0; e < {}; ++e) {{\n",
                      matrices ? fmt::to_string(call.in[2].placement->global[0]) : "g0 + 1");
  body += rows_of_group(call);
  if (matrices) {
    const Bounds k = shared(rows.box, 1, other.box, 1);
    body += fmt::format(
        "    if (g0 < begin || g0 >= end || e < {} || e >= {}) continue;\n"
        "    for (i64t k = {}; k < {}; ++k) sum += ({})({}) * ({})({});\n  }}\n",
        other.box.lo[0], other.box.hi[0], k.lo, k.hi, sum, call.value(0, {"g0", "k"}), sum,
        call.value(1, {"e", "k", "g1"}));
  } else {
    const Bounds t = shared(rows.box, 0, other.box, 0);
    body += fmt::format(
        "    if (e < g0) continue;\n"
        "    for (i64t r = begin > {0} ? begin : {0}; r < end && r < {1}; ++r)\n"
        "      sum += ({2})({3}) * ({2})({4});\n  }}\n",
        t.lo, t.hi, sum, call.value(0, {"r", "g1"}), call.value(1, {"r", "g2"}));
  }
  body += fmt::format("  set_item<{}>({} + t, sum);\n", name(dtype), call.result_memory());
  return call.per_element(std::move(body));
}

}  // namespace

CudaOp cuda_grouped_matmul() {
  return {.form = CudaOp::Form::kIndexed, .indexed = kernel_grouped_matmul};
}

}  // namespace hostir::cuda
