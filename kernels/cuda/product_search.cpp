// Finds the fastest algorithm of a product by timing: cuBLASLt's proposals, and the best of them
// with other settings.
#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "kernels/cuda/device_code.h"
#include "kernels/cuda/product_call.h"

namespace hostir::cuda {
namespace {

// The extent of a matrix in bytes, from its buffer's start.
size_t reach(const Matrix& matrix, const Extents& batch, int64_t rows, int64_t columns,
             DType dtype) {
  int64_t last =
      matrix.offset + (rows - 1) * matrix.row_stride + (columns - 1) * matrix.column_stride;
  for (size_t d = 0; d < matrix.batch_strides.size() && d < batch.size(); ++d) {
    last += (batch[d] - 1) * matrix.batch_strides[d];
  }
  return static_cast<size_t>((last + 1) * size_bytes(dtype));
}

// Numbers of magnitude 0.1 to 2 with random signs and fractions. A device that multiplies zeros or
// repeated numbers needs less power and runs at a higher clock.
std::vector<unsigned char> random_numbers(DType dtype) {
  std::vector<unsigned char> bytes(size_t{1} << 22);
  std::mt19937 random(1);
  const auto size = static_cast<size_t>(size_bytes(dtype));
  const unsigned exponent = dtype == DType::kF16 ? 0x34 : dtype == DType::kF64 ? 0x3f : 0x3e;
  for (size_t i = 0; i < bytes.size(); ++i) {
    auto byte = static_cast<unsigned>(random()) & 0xffu;
    const size_t above = size - 1 - i % size;  // how many bytes of the number are above this one
    if (above == 0) byte = (byte & 0x80u) | exponent;
    if (above == 1 && dtype == DType::kF64) byte = (byte & 0x1fu) | 0xc0u;
    bytes[i] = static_cast<unsigned char>(byte);
  }
  return bytes;
}

// Fills device memory with repetitions of `sample`. false if the device refuses.
bool fill(DeviceMemory& memory, size_t size, const std::vector<unsigned char>& sample) {
  auto* to = static_cast<std::byte*>(memory.data());
  bool ok = cudaMemcpy(to, sample.data(), std::min(size, sample.size()), cudaMemcpyHostToDevice) ==
            cudaSuccess;
  for (size_t done = sample.size(); ok && done < size; done *= 2) {
    ok = cudaMemcpy(to + done, to, std::min(done, size - done), cudaMemcpyDeviceToDevice) ==
         cudaSuccess;
  }
  return ok;
}

/// Times calls on its own stream.
class Timer {
 public:
  Timer(cublasLtHandle_t handle, const ProductCall::Pointers& pointers, void* workspace)
      : handle_(handle), pointers_(pointers), workspace_(workspace) {
    cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking);
    cudaEventCreate(&before_);
    cudaEventCreate(&after_);
    cudaDeviceSynchronize();
  }
  ~Timer() {
    cudaEventDestroy(before_);
    cudaEventDestroy(after_);
    cudaStreamDestroy(stream_);
    static_cast<void>(cudaGetLastError());
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  /// The minimum time of a call in milliseconds; negative if it fails. A call much slower than
  /// `best` is timed only once.
  float time(const ProductCall& call, float best) const {
    const auto once = [&] {
      return call.run(handle_, pointers_, workspace_, stream_) == CUBLAS_STATUS_SUCCESS;
    };
    const float first = run(once);  // slow: it loads code
    if (first < 0 || (best >= 0 && first > 10 * best)) return first;
    const float second = run(once);
    if (second < 0 || (best >= 0 && second > 4 * best)) return second;
    // A graph, because a short kernel takes less time than its launch.
    const int calls = std::clamp(static_cast<int>(0.5f / std::max(second, 1e-3f)), 1, 20);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    bool captured =
        cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal) == cudaSuccess;
    for (int i = 0; i < calls; ++i) captured = captured && once();
    captured = cudaStreamEndCapture(stream_, &graph) == cudaSuccess && captured;
    captured = captured && cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess &&
               cudaGraphUpload(exec, stream_) == cudaSuccess;
    float least = captured ? std::numeric_limits<float>::max() : -1;
    for (int round = 0; captured && round < 5; ++round) {
      const float ms = run([&] { return cudaGraphLaunch(exec, stream_) == cudaSuccess; });
      if (ms >= 0) least = std::min(least, ms / static_cast<float>(calls));
      if (ms < 0) least = -1;
      if (ms < 0 || (best >= 0 && round > 0 && least > 1.2f * best)) break;
    }
    if (exec != nullptr) cudaGraphExecDestroy(exec);
    if (graph != nullptr) cudaGraphDestroy(graph);
    return least;
  }

 private:
  // Milliseconds that the work of `enqueue` takes; negative if it fails.
  template <class Enqueue>
  float run(const Enqueue& enqueue) const {
    cudaEventRecord(before_, stream_);
    if (!enqueue()) return -1;
    cudaEventRecord(after_, stream_);
    float ms = 0;
    if (cudaEventSynchronize(after_) != cudaSuccess) return -1;
    if (cudaEventElapsedTime(&ms, before_, after_) != cudaSuccess) return -1;
    return ms;
  }

  cublasLtHandle_t handle_;
  ProductCall::Pointers pointers_;
  void* workspace_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t before_ = nullptr;
  cudaEvent_t after_ = nullptr;
};

}  // namespace

// The same product with one setting of its algorithm changed, for each value that cuBLASLt accepts:
// the number of parts of the inner dimension, which are added in f32, the cluster of blocks, and
// the order of blocks.
std::vector<ProductCall> ProductCall::neighbours(const ProductSetting& setting) const {
  const CublasLt& lt = *cublas_lt();
  std::vector<ProductCall> found;
  const auto set = [&](ProductCall& call, cublasLtMatmulAlgoConfigAttributes_t attribute,
                       const auto& value) {
    return lt.set_algorithm(&call.algorithm_, attribute, &value, sizeof value) ==
           CUBLAS_STATUS_SUCCESS;
  };
  const auto add_if_accepted = [&](ProductCall& call) {
    cublasLtMatmulHeuristicResult_t checked = {};
    const bool accepted =
        lt.check_algorithm(setting.handle, &call.desc_, &call.left_, &call.right_, &call.in_,
                           &call.out_, &call.algorithm_, &checked) == CUBLAS_STATUS_SUCCESS &&
        checked.workspaceSize <= most_workspace_bytes(setting.options.search);
    if (!accepted) return;
    call.workspace_bytes_ = static_cast<int64_t>(checked.workspaceSize);
    found.push_back(call);
  };
  for (const uint32_t parts : {1u, 2u, 3u, 4u, 6u, 8u}) {
    const uint32_t scheme =
        parts > 1 ? CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE : CUBLASLT_REDUCTION_SCHEME_NONE;
    ProductCall call = *this;
    if (set(call, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, parts) &&
        set(call, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, scheme)) {
      add_if_accepted(call);
    }
  }
  for (int shape = CUBLASLT_CLUSTER_SHAPE_1x1x1; shape < CUBLASLT_CLUSTER_SHAPE_END; ++shape) {
    ProductCall call = *this;
    if (set(call, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID, static_cast<uint16_t>(shape))) {
      add_if_accepted(call);
    }
  }
  for (const uint32_t swizzle : {0u, 1u}) {
    ProductCall call = *this;
    if (set(call, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING, swizzle)) add_if_accepted(call);
  }
  return found;
}

// Uses its own memory; if there is not enough, the first proposal is kept.
void ProductCall::choose_by_time(const ProductSetting& setting,
                                 const std::vector<cublasLtMatmulHeuristicResult_t>& proposals,
                                 bool with_neighbours) {
  const size_t sizes[] = {
      reach(step_.a, step_.batch, step_.m, step_.k, step_.dtype),
      reach(step_.b, step_.batch, step_.k, step_.n, step_.dtype),
      reach(step_.d, step_.batch, step_.m, step_.n, step_.dtype),
      step_.c.buffer >= 0 ? reach(step_.c, step_.batch, step_.m, step_.n, step_.dtype) : 1,
      static_cast<size_t>((step_.bias_offset + step_.n) * size_bytes(step_.dtype)),
      most_workspace_bytes(setting.options.search)};
  const std::vector<unsigned char> sample = random_numbers(step_.dtype);
  std::vector<DeviceMemory> memory;
  for (const size_t size : sizes) {
    auto allocated = DeviceMemory::allocate(size);
    if (!allocated || !fill(*allocated, size, sample)) return;
    memory.push_back(std::move(*allocated));
  }
  const auto at = [&](size_t i) { return static_cast<std::byte*>(memory[i].data()); };
  const Pointers pointers{at(0), at(1), step_.c.buffer >= 0 ? at(3) : nullptr, at(4), at(2)};
  const Timer timer(setting.handle, pointers, at(5));
  struct Timed {
    float ms = 0;
    ProductCall call;
    bool is_expanded = false;  // its neighbours are timed
  };
  std::vector<Timed> timed;
  std::set<std::string> tried;  // bytes of algorithms
  float best = -1;
  const auto try_call = [&](const ProductCall& call) {
    if (!tried.emplace(reinterpret_cast<const char*>(&call.algorithm_), sizeof algorithm_).second) {
      return;
    }
    const float ms = timer.time(call, best);
    if (ms < 0) return;
    timed.push_back({ms, call});
    if (best < 0 || ms < best) best = ms;
  };
  for (const auto& proposal : proposals) {
    ProductCall call = *this;
    call.algorithm_ = proposal.algo;
    call.workspace_bytes_ = static_cast<int64_t>(proposal.workspaceSize);
    try_call(call);
  }
  // The proposals lack settings that are up to 10 % faster. The fastest is expanded first.
  constexpr int kMostExpanded = 24;
  constexpr float kNear = 1.3f;
  for (int expanded = 0; with_neighbours && expanded < kMostExpanded; ++expanded) {
    Timed* next = nullptr;
    for (Timed& t : timed) {
      if (!t.is_expanded && t.ms <= kNear * best && (next == nullptr || t.ms < next->ms)) next = &t;
    }
    if (next == nullptr) break;
    next->is_expanded = true;
    for (const ProductCall& call : next->call.neighbours(setting)) try_call(call);
  }
  if (timed.empty()) return;
  const ProductCall& fastest = std::ranges::min_element(timed, {}, &Timed::ms)->call;
  algorithm_ = fastest.algorithm_;
  workspace_bytes_ = fastest.workspace_bytes_;
}

}  // namespace hostir::cuda
