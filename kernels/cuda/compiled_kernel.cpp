#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

#include "hostir/support/expected.h"
#include "kernels/cuda/generate/sources.h"
#include "kernels/cuda/launch_plan.h"

namespace hostir::cuda {
namespace {

/// Pointers by buffer; no allocation for kernels of typical size.
class Pointers {
 public:
  explicit Pointers(size_t count) {
    if (count > inside_.size()) more_.resize(count);
    data_ = more_.empty() ? inside_.data() : more_.data();
  }
  Pointers(const Pointers&) = delete;
  Pointers& operator=(const Pointers&) = delete;
  void*& operator[](size_t i) { return data_[i]; }
  void* operator[](int i) const { return data_[static_cast<size_t>(i)]; }

 private:
  std::array<void*, 64> inside_;  // the used ones are set before they are read
  std::vector<void*> more_;
  void** data_;
};

bool is_aligned(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer) % 16 == 0; }

cudaError_t launch_generated(const GeneratedLaunch& launch, const Pointers& pointers,
                             Stream stream) {
  Pointers arguments(launch.buffers.size());
  uintptr_t bits = 0;
  for (size_t i = 0; i < launch.buffers.size(); ++i) {
    arguments[i] = pointers[launch.buffers[i]];
    bits |= reinterpret_cast<uintptr_t>(arguments[i]);
  }
  void* packed = &arguments[size_t{0}];
  const bool aligned = bits % 16 == 0;
  // The driver's call costs the host less. It needs the thread's current context.
  const cudaError_t status =
      launch_function(aligned ? launch.aligned_function : launch.unaligned_function, launch.grid,
                      launch.block, stream, &packed);
  if (status != cudaErrorNotSupported && status != cudaErrorDeviceUninitialized) return status;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(launch.grid, 1, 1);
  config.blockDim = dim3(launch.block, 1, 1);
  config.stream = stream;
  cudaKernel_t kernel = aligned ? launch.aligned : launch.unaligned;
  return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel), &packed);
}

cudaError_t launch_product(const ProductLaunch& launch, cublasLtHandle_t handle,
                           const Pointers& pointers, void* workspace, Stream stream) {
  const auto at = [&](int buffer) {
    return buffer < 0 ? nullptr : static_cast<std::byte*>(pointers[buffer]);
  };
  const ProductCall::Pointers p{at(launch.a), at(launch.b), at(launch.c), at(launch.bias),
                                at(launch.d)};
  const bool aligned = is_aligned(p.a) && is_aligned(p.b) && is_aligned(p.c) &&
                       is_aligned(p.bias) && is_aligned(p.d);
  if (!aligned && !launch.unaligned) return launch_generated(launch.plain, pointers, stream);
  const ProductCall& product = aligned ? launch.aligned : *launch.unaligned;
  const auto call = [&](Stream on) {
    return product.run(handle, p, workspace, on) == CUBLAS_STATUS_SUCCESS ? cudaSuccess
                                                                          : cudaErrorLaunchFailure;
  };
  return launch.recorded->run({p.a, p.b, p.c, p.bias, p.d, workspace}, std::cref(call), stream);
}

cudaError_t launch_attention(const AttentionLaunch& launch, const AttentionStep& step,
                             const Pointers& pointers, void* workspace, Stream stream) {
  const auto at = [&](const Heads& heads) {
    return static_cast<std::byte*>(pointers[heads.buffer]);
  };
  const AttentionCall::Pointers p{at(step.q), at(step.k), at(step.v), at(step.o)};
  const auto call = [&](Stream on) {
    return static_cast<cudaError_t>(launch.call->run(p, workspace, on));
  };
  return launch.recorded->run({p.q, p.k, p.v, p.o, workspace, nullptr}, std::cref(call), stream);
}

class Kernel final : public CompiledKernel {
 public:
  explicit Kernel(LaunchPlan plan) : p_(std::move(plan)) {}

  int launch(Stream stream, std::span<const void* const> in, std::span<void* const> out,
             void* workspace) const override {
    if (p_.without_attention != nullptr && !(all_aligned(in) && all_aligned(out))) {
      return p_.without_attention->launch(stream, in, out, workspace);
    }
    auto* const base = static_cast<std::byte*>(workspace);
    Pointers pointers(p_.plan.buffers.size());
    for (size_t b = 0; b < p_.plan.buffers.size(); ++b) {
      const Buffer& buffer = p_.plan.buffers[b];
      switch (buffer.kind) {
        case Buffer::Kind::kParameter:
          pointers[b] = const_cast<void*>(in[buffer.index]);
          break;
        case Buffer::Kind::kResult:
          pointers[b] = out[buffer.index];
          break;
        case Buffer::Kind::kTemporary:
          pointers[b] = base + buffer.workspace_offset;
          break;
        case Buffer::Kind::kConstant:
          pointers[b] = p_.constants[buffer.index].data();
          break;
      }
    }
    std::byte* const library_workspace = base + p_.plan.workspace_bytes;
    std::byte* const shadows = library_workspace + p_.library_workspace_bytes;
    bool has_shadows = false;
    for (const auto& [parameter, result] : p_.unsafe_pairs) {
      if (in[parameter] != out[result] || in[parameter] == nullptr) continue;
      pointers[result_buffer(result)] = shadows + p_.shadow_offsets[result];
      has_shadows = true;
    }
    for (size_t s = 0; s < p_.launches.size(); ++s) {
      const cudaError_t status = launch_step(s, pointers, library_workspace, stream);
      if (status != cudaSuccess) return status;
    }
    if (!has_shadows) return cudaSuccess;
    for (size_t r = 0; r < p_.plan.result_count; ++r) {
      const size_t b = result_buffer(r);
      if (pointers[b] == out[r] || p_.plan.buffers[b].bytes == 0) continue;
      const cudaError_t status =
          cudaMemcpyAsync(out[r], pointers[b], static_cast<size_t>(p_.plan.buffers[b].bytes),
                          cudaMemcpyDeviceToDevice, stream);
      if (status != cudaSuccess) return status;
    }
    return cudaSuccess;
  }

  int64_t workspace_bytes(InPlace in_place) const override {
    const int64_t own = p_.plan.workspace_bytes + p_.library_workspace_bytes +
                        (in_place == InPlace::kYes ? p_.shadow_bytes : 0);
    return p_.without_attention == nullptr
               ? own
               : std::max(own, p_.without_attention->workspace_bytes(in_place));
  }

  std::string summary() const override {
    std::string text;
    for (const Step& step : p_.plan.steps) {
      text += text.empty() ? "" : ", ";
      text += generated_part(step).summary;
    }
    return text;
  }

  std::vector<LaunchDescription> describe() const override {
    std::vector<LaunchDescription> all;
    for (size_t s = 0; s < p_.launches.size(); ++s) {
      const auto* generated = std::get_if<GeneratedLaunch>(&p_.launches[s]);
      const GeneratedStep& step = generated_part(p_.plan.steps[s]);
      LaunchDescription d;
      const bool is_product = std::holds_alternative<ProductLaunch>(p_.launches[s]);
      d.name = generated != nullptr ? step.name : is_product ? "cublasLt" : "cudnn";
      d.text = step.summary;
      d.read_bytes = step.read_bytes;
      d.write_bytes = step.write_bytes;
      d.flops = step.flops;
      if (generated != nullptr) add_device_facts(*generated, d);
      all.push_back(std::move(d));
    }
    return all;
  }

  std::vector<KernelSource> sources() const override { return sources_of(p_.plan); }

 private:
  template <class Pointer>
  static bool all_aligned(std::span<const Pointer> pointers) {
    return std::all_of(pointers.begin(), pointers.end(), is_aligned);
  }

  cudaError_t launch_step(size_t s, const Pointers& pointers, void* library_workspace,
                          Stream stream) const {
    const auto& launch = p_.launches[s];
    if (const auto* generated = std::get_if<GeneratedLaunch>(&launch)) {
      return launch_generated(*generated, pointers, stream);
    }
    if (const auto* product = std::get_if<ProductLaunch>(&launch)) {
      return launch_product(*product, p_.handle->get(), pointers, library_workspace, stream);
    }
    return launch_attention(std::get<AttentionLaunch>(launch),
                            std::get<AttentionStep>(p_.plan.steps[s]), pointers, library_workspace,
                            stream);
  }

  // Results follow the parameters in the plan's buffers.
  size_t result_buffer(size_t result) const { return p_.plan.parameter_count + result; }

  static void add_device_facts(const GeneratedLaunch& launch, LaunchDescription& d) {
    d.grid = launch.grid;
    d.block = launch.block;
    const void* kernel = reinterpret_cast<const void*>(launch.aligned);
    cudaFuncAttributes attributes = {};
    int blocks = 0;
    int device = 0;
    int most_threads = 0;
    if (cudaFuncGetAttributes(&attributes, kernel) == cudaSuccess) {
      d.registers = attributes.numRegs;
      d.shared_bytes = static_cast<int64_t>(attributes.sharedSizeBytes);
    }
    if (cudaGetDevice(&device) == cudaSuccess &&
        cudaDeviceGetAttribute(&most_threads, cudaDevAttrMaxThreadsPerMultiProcessor, device) ==
            cudaSuccess &&
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &blocks, kernel, static_cast<int>(launch.block), 0) == cudaSuccess &&
        most_threads > 0) {
      d.occupancy = static_cast<double>(blocks) * launch.block / most_threads;
    }
    static_cast<void>(cudaGetLastError());
  }

  LaunchPlan p_;
};

}  // namespace

std::unique_ptr<CompiledKernel> make_compiled_kernel(LaunchPlan plan) {
  return std::make_unique<Kernel>(std::move(plan));
}

std::string launch_error(int status) {
  const auto code = static_cast<cudaError_t>(status);
  return fmt::format("{} ({})", cudaGetErrorString(code), cudaGetErrorName(code));
}

Expected<std::shared_ptr<ProductHandle>> ProductHandle::create() {
  if (!cublas_lt()) return tl::unexpected(cublas_lt().error());
  std::shared_ptr<ProductHandle> handle(new ProductHandle());
  if (cublas_lt()->create(&handle->handle_) != CUBLAS_STATUS_SUCCESS) {
    return fail(ErrorKind::kRuntime, "cuda_runtime",
                "cuBLASLt cannot create a handle on this device; is its memory full?");
  }
  return handle;
}

ProductHandle::~ProductHandle() {
  if (handle_ != nullptr) cublas_lt()->destroy(handle_);
}

}  // namespace hostir::cuda
