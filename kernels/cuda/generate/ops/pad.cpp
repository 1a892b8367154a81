#include <fmt/format.h>

#include "hostir/ir/tensor.h"
#include "kernels/cuda/generate/indexed.h"

namespace hostir::cuda {

namespace {

IndexedKernel kernel_pad(const IndexedCall& call) {
  const Attributes& attributes = call.instruction.attributes;
  const DType dtype = call.result().dtype;
  const ExprList& low = *attributes.get<ExprList>("low");
  const auto* interior = attributes.get<IntList>("interior");
  Tensor border = Tensor::zeros(dtype, {1});
  border.set_double(0, attributes.get_or<double>("value", 0));
  const std::string outside =
      is_float(dtype) ? literal(dtype, border.get_double(0)) : literal(dtype, border.get_int(0));
  std::string lines;
  IndexedCall::Names source;
  std::string inside = "true";
  for (size_t d = 0; d < low.size(); ++d) {
    const int64_t step = interior ? (*interior)[d] + 1 : 1;
    const int64_t first = low[d].value();
    lines += fmt::format("  const i64t p{0} = g{0} - {1}, s{0} = p{0} / {2};\n", d, first, step);
    inside += fmt::format(" && p{0} >= 0 && p{0} % {1} == 0", d, step);
    source.push_back(fmt::format("s{}", d));
  }
  return call.per_element(lines +
                          fmt::format("  if ({} && {}) {}[t] = {};\n", inside,
                                      call.holds(0, source), call.result_memory(),
                                      call.element(0, source)) +
                          fmt::format("  else set_item<{}>({} + t, {});\n", name(dtype),
                                      call.result_memory(), outside));
}

}  // namespace

CudaOp cuda_pad() { return {.form = CudaOp::Form::kIndexed, .indexed = kernel_pad}; }

}  // namespace hostir::cuda
