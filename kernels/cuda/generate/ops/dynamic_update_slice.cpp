#include <fmt/format.h>

#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

IndexedKernel kernel_dynamic_update_slice(const IndexedCall& call) {
  const Extents& update = call.in[1].placement->global;
  const IndexedCall::Names index = IndexedCall::names("g", update.size());
  IndexedCall::Names source;
  std::string replaced;
  for (size_t d = 0; d < update.size(); ++d) {
    source.push_back(fmt::format("(g{0} - s{0})", d));
    replaced += fmt::format(" && g{0} >= s{0} && g{0} - s{0} < {1}", d, update[d]);
  }
  return call.per_element(
      start_lines(call, 2, call.in[0].placement->global, update) +
      fmt::format("  if (true{}) {{\n    {}[t] = {} ? {} : 0;\n    return;\n  }}\n", replaced,
                  call.result_memory(), call.holds(1, source), call.element(1, source)) +
      // In place, the other elements are there already.
      fmt::format("  if (a.p[{}] == a.p[0]) return;\n", call.in.size()) +
      fmt::format("  {}[t] = {} ? {} : 0;\n", call.result_memory(), call.holds(0, index),
                  call.element(0, index)));
}

}  // namespace

CudaOp cuda_dynamic_update_slice() {
  return {.form = CudaOp::Form::kIndexed, .indexed = kernel_dynamic_update_slice};
}

}  // namespace hostir::cuda
