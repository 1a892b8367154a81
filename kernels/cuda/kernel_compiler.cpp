// From bound kernels to launches: plan, compile, look up, choose algorithms; once per distinct
// content.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <map>
#include <mutex>
#include <optional>

#include "kernels/cuda/cuda_error.h"
#include "kernels/cuda/disk_cache.h"
#include "kernels/cuda/generate/planner.h"
#include "kernels/cuda/generate/sources.h"
#include "kernels/cuda/launch_plan.h"
#include "kernels/cuda/nvrtc.h"

namespace hostir::cuda {
namespace {

// Value names appear only in comments: kernels that differ only in them are the same.
std::string without_comments(const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const size_t comment = text.find("//", at);
    out.append(text, at, std::min(comment, end) - at);
    out += '\n';
    at = end + 1;
  }
  return out;
}

bool has_attention(const Plan& plan) {
  return std::any_of(plan.steps.begin(), plan.steps.end(),
                     [](const Step& step) { return std::holds_alternative<AttentionStep>(step); });
}

std::string text_of(const Heads& h) {
  return fmt::format("{}+{} [{}] [{}]", h.buffer, h.offset, fmt::join(h.extents, ","),
                     fmt::join(h.strides, ","));
}

// Everything that the launches depend on.
std::string content_of(const Plan& plan) {
  std::string key;
  for (const Buffer& b : plan.buffers) {
    key +=
        fmt::format("{},{},{},{};", static_cast<int>(b.kind), b.index, b.bytes, b.workspace_offset);
  }
  for (const Step& step : plan.steps) {
    const GeneratedStep& s = generated_part(step);
    key += fmt::format("\n{} {}x{} [{}] {}\n", step.index(), s.grid, s.block,
                       fmt::join(s.buffers, ","), s.name);
    key += without_comments(s.text);
    if (const auto* a = std::get_if<AttentionStep>(&step)) {
      key += fmt::format("{} {} {} {} {} {} {} {}", name(a->dtype), text_of(a->q), text_of(a->k),
                         text_of(a->v), text_of(a->o), a->scale, a->is_causal, a->diagonal);
    }
  }
  for (const auto& constant : plan.constants) {
    key.append(reinterpret_cast<const char*>(constant.data()), constant.size());
  }
  return key;
}

using KernelResult = Expected<std::shared_ptr<const CompiledKernel>>;

class Compiler final : public KernelCompiler {
 public:
  Compiler(int device, const CompilerOptions& options)
      : device_(device), options_(options), cache_(options.cache_folder) {}

  Expected<void> open() {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess) {
      static_cast<void>(cudaGetLastError());
      return fail(ErrorKind::kRuntime, "cuda_missing",
                  fmt::format("no CUDA device can be used: {}", cudaGetErrorString(status)));
    }
    if (device_ < 0 || device_ >= count) {
      return fail(ErrorKind::kRuntime, "cuda_device",
                  fmt::format("there is no CUDA device {}: this process sees {}", device_, count));
    }
    HOSTIR_TRY(check_cuda(cudaSetDevice(device_), "selecting a device"));
    cudaDeviceProp properties = {};
    HOSTIR_TRY(check_cuda(cudaGetDeviceProperties(&properties, device_), "asking for a device"));
    arch_ = fmt::format("sm_{}{}", properties.major, properties.minor);
    HOSTIR_ASSIGN_OR_RETURN(nvrtc_version_, compiler_version());
    HOSTIR_ASSIGN_OR_RETURN(handle_, ProductHandle::create());
    const size_t lt = cublas_lt()->version();
    name_ = fmt::format("{}, {}, CUDA {}, cuBLASLt {}.{}.{}", properties.name, arch_,
                        nvrtc_version_, lt / 10000, lt / 100 % 100, lt % 100);
    return {};
  }

  KernelResult compile(const kernels::BoundKernel& kernel) override {
    HOSTIR_ASSIGN_OR_RETURN(Plan plan, plan_kernel(kernel, options_));
    if (!has_attention(plan)) return once(std::move(plan), {});
    CompilerOptions by_ops = options_;
    by_ops.attention = CompilerOptions::Attention::kOps;
    HOSTIR_ASSIGN_OR_RETURN(Plan other, plan_kernel(kernel, by_ops));
    HOSTIR_ASSIGN_OR_RETURN(auto without, once(std::move(other), {}));
    return once(std::move(plan), std::move(without));
  }

  std::string description() const override { return name_; }

 private:
  /// `without`: the same kernel without attention; null if `plan` has none.
  KernelResult once(Plan plan, std::shared_ptr<const CompiledKernel> without) {
    const std::string content = content_of(plan);
    std::promise<KernelResult> promise;
    std::shared_future<KernelResult> known;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      const auto [at, is_new] = kernels_.try_emplace(content);
      if (is_new) {
        at->second = promise.get_future().share();
      } else {
        known = at->second;
      }
    }
    if (known.valid()) return known.get();
    KernelResult result = make(std::move(plan), std::move(without));
    promise.set_value(result);
    if (!result) {  // memory may be available the next time
      const std::lock_guard<std::mutex> lock(mutex_);
      kernels_.erase(content);
    }
    return result;
  }

  Expected<DeviceCode> load_code(const std::string& text) const {
    if (text.empty()) return DeviceCode();
    const std::string key =
        fmt::format("code {} nvrtc {}\n{}{}", arch_, nvrtc_version_, kernel_prelude(), text);
    if (const auto cached = cache_.read(key)) {
      auto code = DeviceCode::load(*cached);
      if (code) return code;
    }
    HOSTIR_ASSIGN_OR_RETURN(const std::string machine_code, compile_text(text, arch_));
    cache_.write(key, machine_code);
    return DeviceCode::load(machine_code);
  }

  Expected<GeneratedLaunch> resolve(const DeviceCode& code, const GeneratedStep& step) const {
    GeneratedLaunch launch{nullptr, nullptr, step.grid, step.block, step.buffers, nullptr, nullptr};
    HOSTIR_ASSIGN_OR_RETURN(launch.aligned, code.kernel(step.name));
    HOSTIR_ASSIGN_OR_RETURN(launch.unaligned, code.kernel(step.name + "_u"));
    launch.aligned_function = DeviceCode::function(launch.aligned);
    launch.unaligned_function = DeviceCode::function(launch.unaligned);
    return launch;
  }

  // The calls of a plan's attentions, by step; nullopt if cuDNN does not take them all.
  std::optional<std::vector<std::shared_ptr<const AttentionCall>>> attention_calls(
      const Plan& plan) {
    std::vector<std::shared_ptr<const AttentionCall>> calls(plan.steps.size());
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      const auto* attention = std::get_if<AttentionStep>(&plan.steps[s]);
      if (attention == nullptr) continue;
      std::call_once(attention_asked_, [&] { attention_ = AttentionHandle::create(); });
      if (!*attention_) return std::nullopt;
      calls[s] = AttentionCall::choose(*attention, **attention_);
      if (calls[s] == nullptr) return std::nullopt;
    }
    return calls;
  }

  KernelResult make(Plan plan, std::shared_ptr<const CompiledKernel> without) {
    HOSTIR_TRY(check_cuda(cudaSetDevice(device_), "selecting a device"));
    const auto attentions = attention_calls(plan);
    if (!attentions) return without;
    LaunchPlan launch;
    launch.without_attention = std::move(without);
    // Algorithms first: what cuBLASLt does not support is compiled with the rest.
    const ProductSetting setting{handle_->get(), options_, cache_, name_};
    std::vector<std::optional<ProductCall>> calls(plan.steps.size());
    std::vector<std::optional<ProductCall>> unaligned(plan.steps.size());
    std::string text;
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      const auto* product = std::get_if<ProductStep>(&plan.steps[s]);
      if (product != nullptr && cublas_may_take(*product)) {
        calls[s] = ProductCall::choose(*product, setting, 16);
        const auto element = static_cast<uint32_t>(size_bytes(product->dtype));
        // A bias of 16-bit floats must be aligned; otherwise use plain loops.
        const bool may_shift = product->bias < 0 || element > 2;
        if (calls[s] && may_shift) unaligned[s] = ProductCall::choose(*product, setting, element);
      }
      const bool needs_text = product == nullptr || !calls[s] || !unaligned[s];
      if (needs_text) text += without_comments(generated_part(plan.steps[s]).text);
    }
    HOSTIR_ASSIGN_OR_RETURN(launch.code, load_code(text));
    const auto reserve = [&](int64_t bytes) {
      launch.library_workspace_bytes = std::max(launch.library_workspace_bytes, bytes);
    };
    for (size_t s = 0; s < plan.steps.size(); ++s) {
      if (const auto& call = (*attentions)[s]) {
        reserve(call->workspace_bytes());
        launch.launches.emplace_back(AttentionLaunch{call});
        continue;
      }
      GeneratedLaunch generated;
      if (!calls[s] || !unaligned[s]) {
        HOSTIR_ASSIGN_OR_RETURN(generated, resolve(launch.code, generated_part(plan.steps[s])));
      }
      if (!calls[s]) {
        launch.launches.emplace_back(std::move(generated));
        continue;
      }
      const auto& product = std::get<ProductStep>(plan.steps[s]);
      reserve(calls[s]->workspace_bytes());
      if (unaligned[s]) reserve(unaligned[s]->workspace_bytes());
      launch.launches.emplace_back(ProductLaunch{*calls[s], unaligned[s], product.a.buffer,
                                                 product.b.buffer, product.c.buffer, product.bias,
                                                 product.d.buffer, std::move(generated)});
    }
    launch.library_workspace_bytes = (launch.library_workspace_bytes + 255) / 256 * 256;
    for (const auto& constant : plan.constants) {
      HOSTIR_ASSIGN_OR_RETURN(DeviceMemory memory, DeviceMemory::copy_of(constant));
      launch.constants.push_back(std::move(memory));
    }
    add_shadows(plan, launch);
    launch.handle = handle_;
    launch.plan = std::move(plan);
    return std::shared_ptr<const CompiledKernel>(make_compiled_kernel(std::move(launch)));
  }

  static void add_shadows(const Plan& plan, LaunchPlan& launch) {
    const auto safe = in_place_pairs(plan);
    launch.shadow_offsets.assign(plan.result_count, -1);
    for (size_t p = 0; p < plan.parameter_count; ++p) {
      for (size_t r = 0; r < plan.result_count; ++r) {
        const int64_t bytes = plan.buffers[plan.parameter_count + r].bytes;
        if (safe[p][r] || bytes == 0 || plan.buffers[p].bytes != bytes) continue;
        launch.unsafe_pairs.emplace_back(p, r);
        if (launch.shadow_offsets[r] >= 0) continue;
        launch.shadow_offsets[r] = launch.shadow_bytes;
        launch.shadow_bytes += (bytes + 255) / 256 * 256;
      }
    }
  }

  int device_;
  CompilerOptions options_;
  DiskCache cache_;
  std::string arch_;
  std::string nvrtc_version_;
  std::string name_;
  std::shared_ptr<ProductHandle> handle_;
  std::mutex mutex_;
  std::map<std::string, std::shared_future<KernelResult>> kernels_;
  // Created on first use, because loading cuDNN is slow.
  std::once_flag attention_asked_;
  std::optional<Expected<std::shared_ptr<AttentionHandle>>> attention_;
};

}  // namespace

Expected<std::shared_ptr<KernelCompiler>> KernelCompiler::create(int device,
                                                                 const CompilerOptions& options) {
  auto compiler = std::make_shared<Compiler>(device, options);
  HOSTIR_TRY(compiler->open());
  return std::shared_ptr<KernelCompiler>(std::move(compiler));
}

}  // namespace hostir::cuda
