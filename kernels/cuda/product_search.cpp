// Finds the fastest algorithm of a product by timing: cuBLASLt's proposals, and the best of them
// with the inner dimension split into more parts.
#include <algorithm>
#include <limits>

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
    const int calls = std::clamp(static_cast<int>(0.5f / std::max(second, 1e-3f)), 5, 20);
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

// The first proposals again, with the inner dimension split into parts that are added in f32.
void ProductCall::add_split_sums(const ProductSetting& setting,
                                 std::vector<cublasLtMatmulHeuristicResult_t>& candidates) {
  constexpr size_t kSplitProposals = 6;
  const CublasLt& lt = *cublas_lt();
  const size_t count = std::min(candidates.size(), kSplitProposals);
  for (size_t i = 0; i < count; ++i) {
    for (const uint32_t parts : {2u, 3u, 4u, 6u, 8u}) {
      cublasLtMatmulAlgo_t algorithm = candidates[i].algo;
      const uint32_t scheme = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
      cublasLtMatmulHeuristicResult_t checked = {};
      const bool fits = lt.set_algorithm(&algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM, &parts,
                                         sizeof parts) == CUBLAS_STATUS_SUCCESS &&
                        lt.set_algorithm(&algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME, &scheme,
                                         sizeof scheme) == CUBLAS_STATUS_SUCCESS &&
                        lt.check_algorithm(setting.handle, &desc_, &left_, &right_, &in_, &out_,
                                           &algorithm, &checked) == CUBLAS_STATUS_SUCCESS &&
                        checked.workspaceSize <= most_workspace_bytes(setting.options.search);
      if (!fits) continue;
      checked.algo = algorithm;
      candidates.push_back(checked);
    }
  }
}

// Uses its own memory; if there is not enough, the first proposal is kept.
void ProductCall::choose_by_time(const ProductSetting& setting,
                                 std::vector<cublasLtMatmulHeuristicResult_t> candidates) {
  add_split_sums(setting, candidates);
  const size_t sizes[] = {
      reach(step_.a, step_.batch, step_.m, step_.k, step_.dtype),
      reach(step_.b, step_.batch, step_.k, step_.n, step_.dtype),
      reach(step_.d, step_.batch, step_.m, step_.n, step_.dtype),
      step_.c.buffer >= 0 ? reach(step_.c, step_.batch, step_.m, step_.n, step_.dtype) : 1,
      static_cast<size_t>((step_.bias_offset + step_.n) * size_bytes(step_.dtype)),
      most_workspace_bytes(setting.options.search)};
  std::vector<DeviceMemory> memory;
  for (const size_t size : sizes) {
    auto allocated = DeviceMemory::allocate(size);
    if (!allocated) return;
    // Small numbers in every dtype, not zeros, which would run faster than real data.
    cudaMemset(allocated->data(), 0x3a, size);
    memory.push_back(std::move(*allocated));
  }
  const auto at = [&](size_t i) { return static_cast<std::byte*>(memory[i].data()); };
  const Pointers pointers{at(0), at(1), step_.c.buffer >= 0 ? at(3) : nullptr, at(4), at(2)};
  const Timer timer(setting.handle, pointers, at(5));
  float best = -1;
  for (const auto& candidate : candidates) {
    ProductCall call = *this;
    call.algorithm_ = candidate.algo;
    call.workspace_bytes_ = static_cast<int64_t>(candidate.workspaceSize);
    const float ms = timer.time(call, best);
    if (ms < 0 || (best >= 0 && ms >= best)) continue;
    best = ms;
    algorithm_ = call.algorithm_;
    workspace_bytes_ = call.workspace_bytes_;
  }
}

}  // namespace hostir::cuda
