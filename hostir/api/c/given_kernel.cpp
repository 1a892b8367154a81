#include "hostir/api/c/given_kernel.h"

#include <vector>

#include "hostir/api/c/dlpack.h"

namespace hostir::api {

namespace {

// `shape` lives as long as the tensor. DLPack has no tensors that cannot be written.
DLTensor tensor_on(const std::byte* data, const Placement& placement, Extents& shape) {
  DLTensor out{};
  out.data = const_cast<std::byte*>(data);
  out.device = {kDLCPU, 0};
  out.ndim = static_cast<int32_t>(shape.size());
  out.dtype = dlpack_type(placement.dtype);
  out.shape = shape.data();
  return out;
}

}  // namespace

void call_kernel(hostir_kernel kernel, void* context, const cpu::ReferenceCall& call) {
  std::vector<Extents> shapes;
  for (const Placement* placement : call.in) shapes.push_back(placement->local());
  std::vector<DLTensor> operands;
  for (size_t i = 0; i < call.in.size(); ++i)
    operands.push_back(tensor_on(call.in_data[i].data, *call.in[i], shapes[i]));
  Extents shape = call.out[0]->local();
  const DLTensor out = tensor_on(call.out_data[0].data, *call.out[0], shape);
  const auto result = call.instruction.attributes.get_or<int64_t>("result", 0);
  kernel(context, static_cast<int32_t>(result), operands.data(), operands.size(), &out);
}

}  // namespace hostir::api
