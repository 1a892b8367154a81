// CPU kernels against the machine's limits: copies for pointwise chains, raw oneDNN for products.
//
// Both figures of a pair are measured in the same run; only the ratios are meaningful (README.md).
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstring>
#include <thread>

#include "hostir/text/parse/parser.h"
#include "kernels/cpu/kernel.h"
#include "raw_matmul.h"

namespace {

using hostir::bench::random_floats;
using hostir::bench::RawMatmul;
using hostir::cpu::CompiledKernel;
using hostir::cpu::ConstMemory;
using hostir::cpu::KernelSet;
using hostir::cpu::Memory;

constexpr int kThreads = 2;

struct Kernel {
  hostir::Program program;
  std::unique_ptr<CompiledKernel> compiled;

  explicit Kernel(const std::string& text) {
    program = hostir::text::parse_program(text).value();
    hostir::cpu::BoundKernel bound;
    bound.function = hostir::kernels::borrowed(program.functions.at(0));
    for (const hostir::Value& value : bound.function->values) {
      hostir::Placement placement;
      placement.dtype = hostir::dtype_of(value.type);
      placement.global = hostir::constant_extents(hostir::shape_of(value.type)).value();
      placement.box = hostir::Box::whole(placement.global);
      bound.values.push_back(std::move(placement));
    }
    hostir::cpu::set_thread_count(kThreads);
    compiled = hostir::cpu::compile(bound, KernelSet::kFast).value();
  }
};

ConstMemory constant(const std::vector<float>& v, uint64_t version = 0) {
  return {reinterpret_cast<const std::byte*>(v.data()), static_cast<int64_t>(v.size()) * 4,
          version};
}
Memory writable(std::vector<float>& v) {
  return {reinterpret_cast<std::byte*>(v.data()), static_cast<int64_t>(v.size()) * 4};
}

// Both benchmarks move 8 bytes per element.
void BM_Copy(benchmark::State& state) {
  const int64_t elems = state.range(0);
  const auto from = random_floats(elems);
  std::vector<float> to(from.size());
  for (auto _ : state) {
    std::jthread other([&] {
      std::memcpy(to.data() + elems / 2, from.data() + elems / 2,
                  static_cast<size_t>(elems - elems / 2) * 4);
    });
    std::memcpy(to.data(), from.data(), static_cast<size_t>(elems / 2) * 4);
  }
  state.SetBytesProcessed(state.iterations() * elems * 8);
}

void run_chain(benchmark::State& state, const char* body) {
  const int64_t elems = state.range(0);
  const Kernel kernel(
      fmt::format("kernel @k(%x: tensor<{0}xf32>) -> (%y: tensor<{0}xf32>) {{\n"
                  " %two = constant {{value = 2.0}} : tensor<{0}xf32>\n"
                  " %half = constant {{value = 0.5}} : tensor<{0}xf32>\n{1}"
                  " return %y\n}}",
                  elems, body));
  const auto from = random_floats(elems);
  std::vector<float> to(from.size());
  const ConstMemory in = constant(from);
  const Memory out = writable(to);
  for (auto _ : state) kernel.compiled->run({&in, 1}, {&out, 1});
  state.SetBytesProcessed(state.iterations() * elems * 8);
  state.SetLabel(kernel.compiled->description());
}

void BM_Chain6(benchmark::State& state) {
  run_chain(state,
            " %a = mul %x, %two\n %b = add %a, %half\n %c = relu %b\n %d = sub %c, %two\n"
            " %e = maximum %d, %x\n %y = mul %e, %half\n");
}
void BM_Chain6Tanh(benchmark::State& state) {
  run_chain(state,
            " %a = mul %x, %two\n %b = add %a, %half\n %c = tanh %b\n %d = sub %c, %two\n"
            " %e = maximum %d, %x\n %y = mul %e, %half\n");
}
void BM_Gelu(benchmark::State& state) { run_chain(state, " %y = gelu %x {approximate = tanh}\n"); }

// The two products on one rank of the tensor-parallel MLP: hidden 2048, 8192 / 4 features.
constexpr int64_t kHidden = 2048;
constexpr int64_t kFeatures = 8192 / 4;

void BM_MlpRaw(benchmark::State& state) {
  const int64_t m = state.range(0);
  const bool bf16 = state.range(1) != 0;
  RawMatmul first(m, kFeatures, kHidden, bf16, true);
  RawMatmul second(m, kHidden, kFeatures, bf16, false);
  for (auto _ : state) {
    first.run();
    second.run();
  }
  state.SetItemsProcessed(state.iterations() * 4 * m * kHidden * kFeatures);
}

void BM_MlpKernels(benchmark::State& state) {
  const int64_t m = state.range(0);
  const char* dtype = state.range(1) != 0 ? "bf16" : "f32";
  const Kernel first(
      fmt::format("kernel @k(%x: tensor<{1}x{2}x{0}>, %w: tensor<{3}x{2}x{0}>) -> (%y: "
                  "tensor<{1}x{3}x{0}>) {{\n"
                  " %h = linear %x, %w\n %y = gelu %h {{approximate = tanh}}\n return %y\n}}",
                  dtype, m, kHidden, kFeatures));
  const Kernel second(
      fmt::format("kernel @k(%x: tensor<{1}x{2}x{0}>, %w: tensor<{3}x{2}x{0}>) -> (%y: "
                  "tensor<{1}x{3}x{0}>) {{\n"
                  " %y = linear %x, %w\n return %y\n}}",
                  dtype, m, kFeatures, kHidden));
  // bf16 operands use the first half of each buffer. The values do not matter as long as they are
  // not NaN, so small numbers are used.
  const bool bf16 = state.range(1) != 0;
  const auto narrow = [&](std::vector<float> v) {
    if (!bf16) return v;
    std::vector<float> packed((v.size() + 1) / 2);
    auto* bits = reinterpret_cast<uint16_t*>(packed.data());
    for (size_t i = 0; i < v.size(); ++i) {
      uint32_t wide;
      std::memcpy(&wide, &v[i], 4);
      bits[i] = static_cast<uint16_t>(wide >> 16);
    }
    return packed;
  };
  const auto x = narrow(random_floats(m * kHidden));
  const auto w1 = narrow(random_floats(kHidden * kFeatures));
  const auto w2 = narrow(random_floats(kHidden * kFeatures));
  std::vector<float> h(static_cast<size_t>(bf16 ? m * kFeatures / 2 : m * kFeatures));
  std::vector<float> y(static_cast<size_t>(bf16 ? m * kHidden / 2 : m * kHidden));
  first.compiled->prepack(1, constant(w1, 1));
  second.compiled->prepack(1, constant(w2, 2));
  for (auto _ : state) {
    const ConstMemory in1[] = {constant(x), constant(w1, 1)};
    const Memory out1 = writable(h);
    first.compiled->run(in1, {&out1, 1});
    const ConstMemory in2[] = {constant(h), constant(w2, 2)};
    const Memory out2 = writable(y);
    second.compiled->run(in2, {&out2, 1});
  }
  state.SetItemsProcessed(state.iterations() * 4 * m * kHidden * kFeatures);
  state.SetLabel(first.compiled->description());
}

// One rank of the small MLP: H = 512, 64 tokens, 8 ranks.
void BM_SmallRaw(benchmark::State& state) {
  RawMatmul first(64, 256, 512, false, true);
  for (auto _ : state) first.run();
}
void BM_SmallKernel(benchmark::State& state) {
  const Kernel kernel(
      "kernel @k(%x: tensor<64x512xf32>, %w: tensor<256x512xf32>) -> (%y: tensor<64x256xf32>) {\n"
      " %h = linear %x, %w\n %y = gelu %h {approximate = tanh}\n return %y\n}");
  const auto x = random_floats(64 * 512);
  const auto w = random_floats(256 * 512);
  std::vector<float> y(64 * 256);
  kernel.compiled->prepack(1, constant(w, 1));
  const ConstMemory in[] = {constant(x), constant(w, 1)};
  const Memory out = writable(y);
  for (auto _ : state) kernel.compiled->run(in, {&out, 1});
}

constexpr int64_t kChainElems[] = {1 << 16, 1 << 20, 1 << 24};

}  // namespace

BENCHMARK(BM_Copy)->Arg(kChainElems[0])->Arg(kChainElems[1])->Arg(kChainElems[2])->UseRealTime();
BENCHMARK(BM_Chain6)->Arg(kChainElems[0])->Arg(kChainElems[1])->Arg(kChainElems[2])->UseRealTime();
BENCHMARK(BM_Chain6Tanh)->Arg(kChainElems[1])->Arg(kChainElems[2])->UseRealTime();
BENCHMARK(BM_Gelu)->Arg(kChainElems[1])->Arg(kChainElems[2])->UseRealTime();
BENCHMARK(BM_MlpRaw)->ArgsProduct({{128, 1024}, {0, 1}})->UseRealTime();
BENCHMARK(BM_MlpKernels)->ArgsProduct({{128, 1024}, {0, 1}})->UseRealTime();
BENCHMARK(BM_SmallRaw)->UseRealTime();
BENCHMARK(BM_SmallKernel)->UseRealTime();

BENCHMARK_MAIN();
