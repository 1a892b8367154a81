// Generated kernels and products on one GPU, against a copy of the same size.
//
//   cuda_kernel_bench [search]     one line per case: name, microseconds, and fraction of the limit
//
// Each case is captured in a graph and replayed; the minimum of ten rounds of twenty is reported. A
// generated kernel fills the operands with random numbers. tests/bench/cuda_kernels.py prints
// PyTorch's times next to these.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "hostir/ops/expand_composites.h"
#include "hostir/text/parse/parser.h"
#include "kernels/cuda/kernel.h"

namespace {

using namespace hostir;

struct Loaded {
  Program program;
  kernels::BoundKernel bound;
};

std::unique_ptr<Loaded> parsed(const std::string& text) {
  auto out = std::make_unique<Loaded>();
  auto program = text::parse_program(text);
  if (!program) {
    fmt::print("{}\n{}\n", program.error().message(), text);
    std::exit(1);
  }
  out->program = std::move(*program);
  Function& function = out->program.functions.at(0);
  if (function.kind == FunctionKind::kFusion) {
    auto kernel = expand_composites(std::move(function), Origins::kNone);
    if (!kernel) {
      fmt::print("{}\n{}\n", kernel.error().message(), text);
      std::exit(1);
    }
    function = std::move(*kernel);
    function.kind = FunctionKind::kKernel;
  }
  out->bound.function = hostir::kernels::borrowed(out->program.functions.at(0));
  for (const Value& value : out->bound.function->values) {
    Placement p;
    p.dtype = dtype_of(value.type);
    p.global = constant_extents(shape_of(value.type)).value();
    p.box = Box::whole(p.global);
    out->bound.values.push_back(std::move(p));
  }
  return out;
}

void* allocated(int64_t bytes) {
  void* p = nullptr;
  if (cudaMalloc(&p, static_cast<size_t>(bytes + 256)) != cudaSuccess) {
    fmt::print("out of memory\n");
    std::exit(1);
  }
  return p;
}

std::shared_ptr<const cuda::CompiledKernel> compiled(cuda::KernelCompiler& compiler,
                                                     const Loaded& kernel) {
  auto made = compiler.compile(kernel.bound);
  if (!made) {
    fmt::print("{}\n", made.error().message());
    std::exit(1);
  }
  return *made;
}

// Fills memory with numbers in [-1, 1).
void fill(cuda::KernelCompiler& compiler, const Placement& p, void* memory, int seed) {
  std::string shape;
  for (const int64_t e : p.global) shape += fmt::format("{}x", e);
  const auto loaded =
      parsed(fmt::format("kernel @fill() -> (%y: tensor<{0}{1}>) {{\n  %y = uniform {{seed = {2}, "
                         "lo = -1.0, hi = 1.0}}"
                         " : tensor<{0}{1}>\n  return %y\n}}",
                         shape, name(p.dtype), seed));
  const auto kernel = compiled(compiler, *loaded);
  void* out[] = {memory};
  kernel->launch(nullptr, {}, out, nullptr);
}

// The minimum time, in microseconds, of a graph with `repeat` calls of `f(stream)`.
template <class F>
double graph_us(F f, int repeat) {
  cudaStream_t stream = nullptr;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  f(stream);
  cudaStreamSynchronize(stream);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  for (int i = 0; i < repeat; ++i) f(stream);
  cudaStreamEndCapture(stream, &graph);
  if (cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess) return -1;
  cudaEvent_t before = nullptr;
  cudaEvent_t after = nullptr;
  cudaEventCreate(&before);
  cudaEventCreate(&after);
  double best = 1e30;
  for (int round = 0; round < 10; ++round) {
    cudaEventRecord(before, stream);
    cudaGraphLaunch(exec, stream);
    cudaEventRecord(after, stream);
    cudaEventSynchronize(after);
    float ms = 0;
    cudaEventElapsedTime(&ms, before, after);
    if (round > 1) best = std::min(best, static_cast<double>(ms) * 1000 / repeat);
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  cudaEventDestroy(before);
  cudaEventDestroy(after);
  cudaStreamDestroy(stream);
  return best;
}

struct Measured {
  double us = 0;
  double host_ns = 0;
};

Measured measure(cuda::KernelCompiler& compiler, const std::string& text, int repeat = 20,
                 bool print = false) {
  const auto loaded = parsed(text);
  const auto start = std::chrono::steady_clock::now();
  const auto kernel = compiled(compiler, *loaded);
  const double compile_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  std::vector<void*> memory;
  std::vector<const void*> in;
  std::vector<void*> out;
  int seed = 1;
  for (const Parameter& parameter : loaded->bound.function->params) {
    const Placement& p = loaded->bound.values[parameter.value.index];
    memory.push_back(allocated(p.local_bytes()));
    fill(compiler, p, memory.back(), seed++);
    in.push_back(memory.back());
  }
  for (const Operand& result : kernels::returned_values(*loaded->bound.function)) {
    memory.push_back(allocated(loaded->bound.values[result.value.index].local_bytes()));
    out.push_back(memory.back());
  }
  void* workspace = allocated(kernel->workspace_bytes(cuda::CompiledKernel::InPlace::kNo));
  memory.push_back(workspace);
  Measured m;
  m.us = graph_us(
      [&](cudaStream_t stream) {
        const int status = kernel->launch(stream, in, out, workspace);
        if (status != 0) fmt::print("launch: {}\n", cuda::launch_error(status));
      },
      repeat);
  cudaDeviceSynchronize();
  const auto before = std::chrono::steady_clock::now();
  constexpr int kLaunches = 200;
  for (int i = 0; i < kLaunches; ++i) kernel->launch(nullptr, in, out, workspace);
  m.host_ns =
      std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - before).count() /
      kLaunches;
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) fmt::print("{}\n", cudaGetErrorString(status));
  if (print) {
    for (const cuda::LaunchDescription& d : kernel->describe()) {
      fmt::print(
          "    {} {}: grid {} x {}, {} registers, {} B shared, occupancy {:.2f}, compiled in "
          "{:.0f} ms\n",
          d.name, d.text, d.grid, d.block, d.registers, d.shared_bytes, d.occupancy, compile_ms);
    }
  }
  for (void* p : memory) cudaFree(p);
  return m;
}

std::string softmax(int64_t rows, int64_t columns) {
  return fmt::format(
      R"(kernel @softmax(%x: tensor<{0}x{1}xbf16>) -> (%y: tensor<{0}x{1}xbf16>) {{
  %m = reduce_max %x {{dims = [1]}}
  %mb = broadcast_in_dim %m {{dims = [0], shape = [{0}, {1}]}}
  %d = sub %x, %mb
  %e = exp %d
  %s = reduce_sum %e {{dims = [1]}}
  %sb = broadcast_in_dim %s {{dims = [0], shape = [{0}, {1}]}}
  %y = div %e, %sb
  return %y
}})",
      rows, columns);
}

// Computed in f32 between bf16 operands, as in PyTorch.
std::string norm(int64_t rows, int64_t columns, bool centred) {
  std::string centre = "  %d = mul %f, %ones\n";
  if (centred) {
    centre = fmt::format(
        "  %mean = reduce_mean %f {{dims = [1]}}\n"
        "  %mb = broadcast_in_dim %mean {{dims = [0], shape = [{0}, {1}]}}\n  %d = sub %f, %mb\n",
        rows, columns);
  }
  const std::string shift =
      centred ? fmt::format(
                    "  %b32 = cast %b {{to = f32}}\n"
                    "  %bb = broadcast_in_dim %b32 {{dims = [1], shape = [{}, {}]}}\n"
                    "  %r1 = add %r0, %bb\n",
                    rows, columns)
              : "";
  return fmt::format(
      R"(kernel @norm(%x: tensor<{0}x{1}xbf16>, %g: tensor<{1}xbf16>, %b: tensor<{1}xbf16>)
    -> (%y: tensor<{0}x{1}xbf16>) {{
  %f = cast %x {{to = f32}}
  %ones = constant {{value = 1.0}} : tensor<{0}x{1}xf32>
{2}  %q = mul %d, %d
  %v = reduce_mean %q {{dims = [1]}}
  %eps = constant {{value = 1e-5}} : tensor<{0}xf32>
  %ve = add %v, %eps
  %r = rsqrt %ve
  %rb = broadcast_in_dim %r {{dims = [0], shape = [{0}, {1}]}}
  %n = mul %d, %rb
  %g32 = cast %g {{to = f32}}
  %gb = broadcast_in_dim %g32 {{dims = [1], shape = [{0}, {1}]}}
  %r0 = mul %n, %gb
{3}  %y = cast %{4} {{to = bf16}}
  return %y
}})",
      rows, columns, centre, shift, centred ? "r1" : "r0");
}

std::string chain(int64_t rows, int64_t columns) {
  return fmt::format(
      R"(kernel @chain(%x: tensor<{0}x{1}xbf16>) -> (%y: tensor<{0}x{1}xbf16>) {{
  %c = constant {{value = 1.5}} : tensor<{0}x{1}xbf16>
  %a = mul %x, %c
  %b = add %a, %x
  %t = tanh %b
  %d = mul %t, %x
  %e = sub %d, %c
  %y = maximum %e, %x
  return %y
}})",
      rows, columns);
}

std::string linear(int64_t m, int64_t n, int64_t k) {
  return fmt::format(
      "kernel @linear(%x: tensor<{0}x{2}xbf16>, %w: tensor<{1}x{2}xbf16>) -> (%y: "
      "tensor<{0}x{1}xbf16>) {{\n"
      "  %y = linear %x, %w\n  return %y\n}}",
      m, n, k);
}

std::string mlp(int64_t t, int64_t h) {
  return fmt::format(
      R"(kernel @mlp(%x: tensor<{0}x{1}xbf16>, %w: tensor<{2}x{1}xbf16>, %b: tensor<{2}xbf16>,
            %v: tensor<{1}x{2}xbf16>, %c: tensor<{1}xbf16>) -> (%y: tensor<{0}x{1}xbf16>) {{
  %h = linear %x, %w, %b
  %g = gelu %h {{approximate = tanh}}
  %y = linear %g, %v, %c
  return %y
}})",
      t, h, 4 * h);
}

std::string attention(int64_t b, int64_t h, int64_t s, int64_t d) {
  return fmt::format(
      R"(fusion @f(%q: tensor<{0}xbf16>, %k: tensor<{0}xbf16>, %v: tensor<{0}xbf16>) -> (%y: tensor<{0}xbf16>) {{
  %y = scaled_dot_product_attention %q, %k, %v {{causal = true}}
  return %y
}})",
      fmt::format("{}x{}x{}x{}", b, h, s, d));
}

}  // namespace

int main(int argc, char** argv) {
  cuda::CompilerOptions options;
  options.cache_folder = "none";
  if (argc > 1 && std::strcmp(argv[1], "search") == 0) {
    options.search = cuda::CompilerOptions::Search::kTimed;
  }
  auto made = cuda::KernelCompiler::create(0, options);
  if (!made) {
    fmt::print("{}\n", made.error().message());
    return 1;
  }
  cuda::KernelCompiler& compiler = **made;
  fmt::print("{}\n", compiler.description());
  constexpr int64_t kRows = 16384;
  constexpr int64_t kColumns = 4096;
  constexpr int64_t kBytes = kRows * kColumns * 2;
  void* a = allocated(kBytes);
  void* b = allocated(kBytes);
  const double copy = graph_us(
      [&](cudaStream_t stream) {
        cudaMemcpyAsync(b, a, static_cast<size_t>(kBytes), cudaMemcpyDeviceToDevice, stream);
      },
      20);
  cudaFree(a);
  cudaFree(b);
  fmt::print("{:34} {:9.1f} us\n", "copy 64M bf16", copy);
  const auto elements = [&](const std::string& what, const std::string& text) {
    const Measured m = measure(compiler, text, 20, true);
    fmt::print("{:34} {:9.1f} us  {:5.2f} x copy\n", what, m.us, m.us / copy);
  };
  elements("chain of 6 with tanh 64M", chain(kRows, kColumns));
  elements("rms norm 16384x4096", norm(kRows, kColumns, false));
  elements("layer norm 16384x4096", norm(kRows, kColumns, true));
  elements("softmax 16384x4096", softmax(kRows, kColumns));
  elements("layer norm 65536x1024", norm(65536, 1024, true));
  elements("softmax 2048x32768", softmax(2048, 32768));
  elements("softmax 512x131072", softmax(512, 131072));
  elements("column sum 16384x4096",
           fmt::format("kernel @s(%x: tensor<{0}x{1}xbf16>) -> (%y: tensor<{1}xbf16>) {{\n  %y = "
                       "reduce_sum %x {{dims = [0]}}\n  return %y\n}}",
                       kRows, kColumns));
  elements("sum of all 64M",
           fmt::format("kernel @s(%x: tensor<{0}x{1}xbf16>) -> (%y: tensor<bf16>) {{\n  %y = "
                       "reduce_sum %x {{dims = [0, 1]}}\n  return %y\n}}",
                       kRows, kColumns));
  elements(
      "transpose 16384x4096",
      fmt::format("kernel @t(%x: tensor<{0}x{1}xbf16>) -> (%y: tensor<{1}x{0}xbf16>) {{\n  %y = "
                  "transpose %x {{permutation = [1, 0]}}\n  return %y\n}}",
                  kRows, kColumns));
  elements(
      "heads 8x2048x32x128 transposed",
      "kernel @t(%x: tensor<8x2048x32x128xbf16>) -> (%y: tensor<8x32x2048x128xbf16>) {\n  %y = "
      "transpose %x {permutation = [0, 2, 1, 3]}\n  return %y\n}");
  elements(
      "dropout 64M",
      fmt::format("kernel @d(%x: tensor<{0}x{1}xbf16>) -> (%y: tensor<{0}x{1}xbf16>) {{\n  %y = "
                  "dropout %x {{rate = 0.1, seed = 3}}\n  return %y\n}}",
                  kRows, kColumns));
  const auto product = [&](int64_t m, int64_t n, int64_t k) {
    const Measured r = measure(compiler, linear(m, n, k), m * n * k > (int64_t{1} << 34) ? 5 : 20);
    const double flops =
        2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    fmt::print("{:34} {:9.1f} us  {:5.0f} TFLOP/s\n", fmt::format("linear {}x{}x{}", m, n, k), r.us,
               flops / r.us * 1e-6);
  };
  product(8192, 8192, 8192);
  product(4096, 4096, 4096);
  product(128, 4096, 16384);
  product(16, 8192, 8192);
  for (const auto& [batch, s] : {std::pair<int64_t, int64_t>{4, 2048}, {1, 8192}}) {
    const Measured r = measure(compiler, attention(batch, 32, s, 128), 5, true);
    const double flops = 2.0 * static_cast<double>(batch * 32 * s * s * 128);  // half of the scores
    fmt::print("{:34} {:9.1f} us  {:5.0f} TFLOP/s\n",
               fmt::format("causal attention {}x32x{}x128", batch, s), r.us, flops / r.us * 1e-6);
  }
  using TokensHidden = std::pair<int64_t, int64_t>;
  for (const auto& [t, h] :
       {TokensHidden{128, 1024}, TokensHidden{1, 4096}, TokensHidden{128, 4096},
        TokensHidden{2048, 4096}, TokensHidden{2048, 8192}}) {
    const Measured r = measure(compiler, mlp(t, h), 10);
    fmt::print("{:34} {:9.1f} us  launching costs the host {:.1f} us\n",
               fmt::format("mlp H={} T={}", h, t), r.us, r.host_ns / 1000);
  }
  const Measured tiny = measure(compiler, chain(16, 64), 100);
  fmt::print("{:34} {:9.2f} us  launching costs the host {:.2f} us\n", "chain of 6, 1024 elements",
             tiny.us, tiny.host_ns / 1000);
  return 0;
}
