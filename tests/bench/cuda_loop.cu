// The MLP forward of tests/long/gpu_bench.py as a hand-written loop of the same library calls, to
// compare hostir with. gpu_bench.py --loop builds and runs it beside hostir.
//
//   nvcc -O2 -std=c++20 tests/bench/cuda_loop.cu -lcublasLt -lnccl -lcuda -o cuda_loop
//   cuda_loop mlp H T PASSES [DEVICES]   microseconds per pass: a loop, and a graph of one pass
//   cuda_loop launch COUNT               microseconds of a raw driver call that launches a kernel
//
// One cuBLASLt call per product, with bias and gelu in its epilogue and the first algorithm
// proposed. On several devices a thread per device, and one all-reduce per pass.
#include <cublasLt.h>
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <nccl.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace {

void check(bool ok, const char* what) {
  if (ok) return;
  std::printf("%s failed: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(1);
}

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

__device__ unsigned hash(unsigned x) {
  x = (x ^ x >> 16) * 0x7feb352du;
  x = (x ^ x >> 15) * 0x846ca68bu;
  return x ^ x >> 16;
}

// Normal numbers. The power that a product takes, and so its clock, depends on its operands.
__global__ void fill(__nv_bfloat16* p, long n, unsigned seed, float deviation) {
  for (long i = blockIdx.x * long(blockDim.x) + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned a = hash(unsigned(i) ^ hash(seed)), b = hash(a + 0x9e3779b9u);
    const float u = (float(a >> 8) + 1) / float(1 << 24), v = float(b >> 8) / float(1 << 24);
    p[i] = __float2bfloat16(sqrtf(-2 * logf(u)) * cospif(2 * v) * deviation);
  }
}

__global__ void add_one(const float* in, float* out) { out[threadIdx.x] = in[threadIdx.x] + 1; }

__nv_bfloat16* random_numbers(long n, unsigned seed, float deviation = 1) {
  __nv_bfloat16* p = nullptr;
  check(cudaMalloc(&p, size_t(n) * 2) == cudaSuccess, "cudaMalloc");
  fill<<<1024, 256>>>(p, n, seed, deviation);
  return p;
}

/// y[m, n] = x[m, k] w[n, k]^T, in row-major order.
struct Product {
  cublasLtMatmulDesc_t desc = nullptr;
  cublasLtMatrixLayout_t w_layout = nullptr, x_layout = nullptr, y_layout = nullptr;
  cublasLtMatmulAlgo_t algorithm = {};
  const void *w, *x;
  void *y, *workspace;
  size_t workspace_bytes = 0;

  Product(cublasLtHandle_t handle, long m, long n, long k, const void* weight, const void* input,
          void* output, const void* bias, cublasLtEpilogue_t epilogue, void* scratch, size_t bytes)
      : w(weight), x(input), y(output), workspace(scratch) {
    cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const auto set = [&](cublasLtMatmulDescAttributes_t a, const auto& v) {
      check(cublasLtMatmulDescSetAttribute(desc, a, &v, sizeof v) == CUBLAS_STATUS_SUCCESS, "set");
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, transposed);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
    cublasLtMatrixLayoutCreate(&w_layout, CUDA_R_16BF, uint64_t(k), uint64_t(n), k);
    cublasLtMatrixLayoutCreate(&x_layout, CUDA_R_16BF, uint64_t(k), uint64_t(m), k);
    cublasLtMatrixLayoutCreate(&y_layout, CUDA_R_16BF, uint64_t(n), uint64_t(m), n);
    cublasLtMatmulPreference_t preference = nullptr;
    cublasLtMatmulPreferenceCreate(&preference);
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &bytes, sizeof bytes);
    const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                         &schemes, sizeof schemes);
    cublasLtMatmulHeuristicResult_t proposals[16];
    int found = 0;
    cublasLtMatmulAlgoGetHeuristic(handle, desc, w_layout, x_layout, y_layout, y_layout, preference,
                                   16, proposals, &found);
    check(found > 0, "cublasLtMatmulAlgoGetHeuristic");
    algorithm = proposals[0].algo;
    workspace_bytes = proposals[0].workspaceSize;
  }
  void run(cublasLtHandle_t handle, cudaStream_t stream) const {
    const float one = 1, zero = 0;
    check(cublasLtMatmul(handle, desc, &one, w, w_layout, x, x_layout, &zero, y, y_layout, y,
                         y_layout, &algorithm, workspace, workspace_bytes,
                         stream) == CUBLAS_STATUS_SUCCESS,
          "cublasLtMatmul");
  }
};

/// The least microseconds per pass of three rounds, on all devices at once.
double timed(int device, long passes, cudaStream_t stream, std::barrier<>& meet,
             const std::function<void()>& pass) {
  double best = 1e30;
  for (int round = 0; round < 4; ++round) {
    cudaStreamSynchronize(stream);
    meet.arrive_and_wait();
    const double begin = seconds();
    for (long i = 0; i < passes; ++i) pass();
    cudaStreamSynchronize(stream);
    if (round > 0) best = std::min(best, (seconds() - begin) / double(passes) * 1e6);
  }
  check(cudaGetLastError() == cudaSuccess, "a pass");
  (void)device;
  return best;
}

void mlp(int device, int devices, long h, long t, long passes, ncclComm_t comm,
         std::barrier<>& meet) {
  cudaSetDevice(device);
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cublasLtHandle_t handle = nullptr;
  cublasLtCreate(&handle);
  const long inner = 4 * h / devices;
  auto *x = random_numbers(t * h, 1), *w1 = random_numbers(inner * h, 2, 0.02f),
       *b1 = random_numbers(inner, 3), *g = random_numbers(t * inner, 4),
       *w2 = random_numbers(h * inner, 5, 0.02f), *b2 = random_numbers(h, 6),
       *p = random_numbers(t * h, 7), *y = random_numbers(t * h, 8);
  const size_t bytes = size_t{32} << 20;
  void* scratch = nullptr;
  cudaMalloc(&scratch, bytes);
  cudaDeviceSynchronize();
  const bool sums = devices > 1;
  const Product up(handle, t, inner, h, w1, x, g, b1, CUBLASLT_EPILOGUE_GELU_BIAS, scratch, bytes);
  const Product down(handle, t, h, inner, w2, g, sums ? p : y, sums ? nullptr : b2,
                     sums ? CUBLASLT_EPILOGUE_DEFAULT : CUBLASLT_EPILOGUE_BIAS, scratch, bytes);
  const auto pass = [&] {
    up.run(handle, stream);
    down.run(handle, stream);
    if (sums) ncclAllReduce(p, y, size_t(t * h), ncclBfloat16, ncclSum, comm, stream);
  };
  const double plain = timed(device, passes, stream, meet, pass);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  pass();
  cudaStreamEndCapture(stream, &graph);
  check(cudaGraphInstantiate(&exec, graph, 0) == cudaSuccess, "cudaGraphInstantiate");
  const double replayed =
      timed(device, passes, stream, meet, [&] { cudaGraphLaunch(exec, stream); });
  if (device == 0) std::printf("loop %.2f graph %.2f\n", plain, replayed);
}

int launches(long count) {
  float *in = nullptr, *out = nullptr;
  cudaMalloc(&in, 4096);
  cudaMalloc(&out, 4096);
  cudaFunction_t function = nullptr;
  check(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(&add_one)) == cudaSuccess,
        "cudaGetFuncBySymbol");
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  void* arguments[] = {&in, &out};
  std::barrier<> alone(1);
  const double us = timed(0, count, stream, alone, [&] {
    cuLaunchKernel(reinterpret_cast<CUfunction>(function), 1, 1, 1, 256, 1, 1, 0, stream, arguments,
                   nullptr);
  });
  std::printf("launch %.3f\n", us);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "launch") == 0) return launches(std::atol(argv[2]));
  if (argc < 5) return std::puts("see the head of the source for the arguments"), 2;
  const long h = std::atol(argv[2]), t = std::atol(argv[3]), passes = std::atol(argv[4]);
  const int devices = argc > 5 ? std::atoi(argv[5]) : 1;
  std::vector<ncclComm_t> comms(static_cast<size_t>(devices), nullptr);
  if (devices > 1) {
    check(ncclCommInitAll(comms.data(), devices, nullptr) == ncclSuccess, "ncclCommInitAll");
  }
  std::barrier<> meet(devices);
  std::vector<std::thread> threads;
  for (int d = 0; d < devices; ++d) {
    threads.emplace_back([&, d] { mlp(d, devices, h, t, passes, comms[size_t(d)], meet); });
  }
  for (std::thread& thread : threads) thread.join();
  std::fflush(stdout);
  std::_Exit(0);  // graphs hold the communicators
}
