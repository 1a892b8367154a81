#include "interp/cuda/host_kernel.h"

namespace hostir::cuda {

Expected<std::shared_ptr<HostKernel>> HostKernel::create(const kernels::BoundKernel& kernel) {
  std::shared_ptr<HostKernel> out(new HostKernel);
  HOSTIR_ASSIGN_OR_RETURN(out->kernel_, cpu::compile(kernel, cpu::KernelSet::kReference));
  const Function& function = *kernel.function;
  for (const auto& p : function.params) {
    out->in_bytes_.push_back(kernel.values[p.value.index].local_bytes());
  }
  for (const Operand& o : kernels::returned_values(function)) {
    out->out_bytes_.push_back(kernel.values[o.value.index].local_bytes());
  }
  return out;
}

void HostKernel::run(std::span<const void* const> in, std::span<void* const> out) const {
  std::vector<cpu::ConstMemory> inputs;
  std::vector<cpu::Memory> outputs;
  for (size_t i = 0; i < in.size(); ++i) {
    inputs.push_back({static_cast<const std::byte*>(in[i]), in_bytes_[i], 0});
  }
  for (size_t i = 0; i < out.size(); ++i) {
    outputs.push_back({static_cast<std::byte*>(out[i]), out_bytes_[i]});
  }
  kernel_->run(inputs, outputs);
}

std::string HostKernel::description() const { return "on the host: " + kernel_->description(); }

}  // namespace hostir::cuda
