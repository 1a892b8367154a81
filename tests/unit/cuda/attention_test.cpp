// Attention as one call of cuDNN. Without a GPU: that the planner finds it, and where it must not.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "cuda_case.h"
#include "hostir/ops/expand_composites.h"
#include "hostir/text/print/printer.h"
#include "kernels/cuda/attention_call.h"

namespace hostir::cuda {
namespace {

/// The kernel that a fusion with one attention becomes.
std::string expanded(const std::string& fusion) {
  auto program = text::parse_program(fusion);
  if (!program) throw std::invalid_argument(program.error().message());
  auto kernel = expand_composites(program->functions.at(0), Origins::kNone);
  if (!kernel) throw std::invalid_argument(kernel.error().message());
  kernel->kind = FunctionKind::kKernel;
  program->functions.at(0) = std::move(*kernel);
  return text::print(*program);
}

KernelCase attention(const std::string& dtype, const std::string& q, const std::string& k,
                     const std::string& v, const std::string& y, const std::string& attributes) {
  return KernelCase(expanded(fmt::format(
      "fusion @f(%q: tensor<{1}x{0}>, %k: tensor<{2}x{0}>, %v: tensor<{3}x{0}>) -> (%y: "
      "tensor<{4}x{0}>) {{\n  %y = scaled_dot_product_attention %q, %k, %v {5}\n  return %y\n}}",
      dtype, q, k, v, y, attributes)));
}

/// The number of library calls for attention in a kernel.
int calls(const KernelCase& test) {
  const auto sources = generate_sources(test.bound);
  if (!sources) {
    ADD_FAILURE() << sources.error().message();
    return -1;
  }
  int found = 0;
  for (const KernelSource& source : *sources) {
    found += source.text.find("attention of") != std::string::npos ? 1 : 0;
  }
  return found;
}

/// With cuDNN the whole kernel is one of its calls.
void expect_cudnn(const KernelCase& test, const std::string& what) {
  if (!AttentionHandle::create()) return;
  const auto kernel = compiler()->compile(test.bound);
  ASSERT_TRUE(kernel) << kernel.error().message();
  const auto launches = (*kernel)->describe();
  EXPECT_TRUE(std::any_of(launches.begin(), launches.end(),
                          [](const LaunchDescription& l) { return l.name == "cudnn"; }))
      << what << " runs as " << (*kernel)->summary();
}

TEST(CudaAttention, IsOneCall) {
  std::mt19937_64 random(1);
  struct Sizes {
    const char *q, *k, *v, *y;
  };
  const Sizes all[] = {
      {"2x4x128x64", "2x4x128x64", "2x4x128x64", "2x4x128x64"},
      {"3x96x128", "3x96x128", "3x96x128", "3x96x128"},              // no batch
      {"2x8x64x64", "2x2x192x64", "2x2x192x64", "2x8x64x64"},        // heads share keys
      {"2x3x2x72x64", "2x3x2x72x64", "2x3x2x72x64", "2x3x2x72x64"},  // two batch dimensions
      {"1x2x40x64", "1x2x56x64", "1x2x56x128", "1x2x40x128"}};
  for (const char* dtype : {"bf16", "f16"}) {
    for (const Sizes& s : all) {
      for (const char* attributes : {"", "{causal = true}", "{scale = 0.2}"}) {
        const KernelCase test = attention(dtype, s.q, s.k, s.v, s.y, attributes);
        const std::string what = fmt::format("{} {} of {}", dtype, s.q, s.k) + attributes;
        EXPECT_EQ(calls(test), 1) << what;
        if (compiler() == nullptr) continue;
        expect_cudnn(test, what);
        expect_agrees(test, random, what, 2, -1, 1);
        expect_agrees(test, random, what + " unaligned", 2, -1, 1, {.unaligned = true});
        expect_agrees(test, random, what + " repeated", 2, -1, 1, {.launches = 6});
      }
    }
  }
}

// The queries of one rank, which see the keys before them on other ranks.
TEST(CudaAttention, OfAPartOfTheQueries) {
  std::mt19937_64 random(2);
  for (const int64_t lo : {0, 64, 128}) {
    KernelCase test = attention("bf16", "1x2x192x64", "1x2x192x64", "1x2x192x64", "1x2x192x64",
                                "{causal = true}");
    const Function& f = *test.bound.function;
    for (size_t v = 0; v < f.values.size(); ++v) {
      Placement& p = test.bound.values[v];
      const std::string& name = f.values[v].name;
      const bool is_key = name == "k" || name == "v" || p.global == Extents{1, 2, 64, 192};
      if (is_key || p.box.lo.size() < 3) continue;
      p.box.lo[2] = lo;
      p.box.hi[2] = lo + 64;
    }
    EXPECT_EQ(calls(test), 1) << lo;
    expect_agrees(test, random, fmt::format("queries from {}", lo), 2, -1, 1);
  }
}

// Heads that are a dimension in the middle of memory, as transformers have them.
TEST(CudaAttention, OfTransposedOperands) {
  std::mt19937_64 random(3);
  const KernelCase test(
      expanded(R"(fusion @f(%x: tensor<2x64x3x4x64xbf16>) -> (%y: tensor<2x64x4x64xbf16>) {
  %t = transpose %x {permutation = [2, 0, 3, 1, 4]}
  %q1 = slice %t {start = [0, 0, 0, 0, 0], limit = [1, 2, 4, 64, 64]}
  %k1 = slice %t {start = [1, 0, 0, 0, 0], limit = [2, 2, 4, 64, 64]}
  %v1 = slice %t {start = [2, 0, 0, 0, 0], limit = [3, 2, 4, 64, 64]}
  %q = reshape %q1 {shape = [2, 4, 64, 64]}
  %k = reshape %k1 {shape = [2, 4, 64, 64]}
  %v = reshape %v1 {shape = [2, 4, 64, 64]}
  %a = scaled_dot_product_attention %q, %k, %v {causal = true}
  %y = transpose %a {permutation = [0, 2, 1, 3]}
  return %y
})"));
  EXPECT_EQ(calls(test), 1);
  const auto sources = generate_sources(test.bound);
  ASSERT_TRUE(sources);
  EXPECT_EQ(sources->size(), 2u) << "operands are read in place; the result is transposed";
  expect_agrees(test, random, "transposed", 2, -1, 1);
}

TEST(CudaAttention, IsLeftAloneWhereItDiffers) {
  const std::string s = "2x4x32x64";
  EXPECT_EQ(calls(attention("f32", s, s, s, s, "")), 0) << "f32 is not rounded to 16 bits";
  // Another op reads the weights.
  const std::string kernel = expanded(
      R"(fusion @f(%q: tensor<2x32x64xbf16>, %k: tensor<2x32x64xbf16>, %v: tensor<2x32x64xbf16>)
    -> (%y: tensor<2x32x64xbf16>, %w: tensor<2x32x32xbf16>) {
  %kt = transpose %k {permutation = [0, 2, 1]}
  %p = matmul %q, %kt
  %s = cast %p {to = f32}
  %c = constant {value = 0.125} : tensor<2x32x32xf32>
  %m = mul %s, %c
  %e = softmax %m
  %w = cast %e {to = bf16}
  %y = matmul %w, %v
  return %y, %w
})");
  EXPECT_EQ(calls(KernelCase(kernel)), 0);
  std::string alone = kernel;
  for (const auto& [from, to] :
       {std::pair<std::string, std::string>{", %w: tensor<2x32x32xbf16>)", ")"},
        {"return %y, %w", "return %y"}}) {
    const size_t at = alone.find(from);
    ASSERT_NE(at, std::string::npos) << kernel;
    alone.replace(at, from.size(), to);
  }
  EXPECT_EQ(calls(KernelCase(alone)), 1) << alone;
  const KernelCase exact = attention("bf16", s, s, s, s, "");
  const auto sources =
      generate_sources(exact.bound, {.epilogues = CompilerOptions::Epilogues::kExact});
  ASSERT_TRUE(sources);
  EXPECT_GT(sources->size(), 1u);
}

/// Attention of 32 queries and keys of size 32, with one part replaced.
std::string written(const std::string& from, const std::string& to) {
  std::string text =
      R"(kernel @k(%q: tensor<32x32xbf16>, %k: tensor<32x32xbf16>, %v: tensor<32x32xbf16>) -> (%y: tensor<32x32xbf16>) {
  %kt = transpose %k {permutation = [1, 0]}
  %p = matmul %q, %kt
  %s = cast %p {to = f32}
  %c = constant {value = 0.125} : tensor<32x32xf32>
  %m = mul %s, %c
  %i = iota {dim = 0} : tensor<32x32xi32>
  %j = iota {dim = 1} : tensor<32x32xi32>
  %ge = compare %i, %j {direction = ge}
  %low = constant {value = -1e30} : tensor<32x32xf32>
  %x = select %ge, %m, %low
  %max = reduce_max %x {dims = [1]}
  %maxes = broadcast_in_dim %max {dims = [0], shape = [32, 32]}
  %d = sub %x, %maxes
  %e = exp %d
  %sum = reduce_sum %e {dims = [1]}
  %sums = broadcast_in_dim %sum {dims = [0], shape = [32, 32]}
  %n = div %e, %sums
  %w = cast %n {to = bf16}
  %y = matmul %w, %v
  return %y
})";
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(CudaAttention, IsFoundOnlyWhereEveryPartFits) {
  std::mt19937_64 random(4);
  EXPECT_EQ(calls(KernelCase(written("dim = 0", "dim = 0"))), 1);
  const std::pair<const char*, const char*> others[] = {
      {"%y = matmul %w, %v", "%y = matmul %w, %w"},  // v is a value in between
      {"%y = matmul %w, %v", "%y = matmul %w, %p"},
      {"%sum {dims = [0], shape", "%sum {dims = [1], shape"},  // rows divided by other rows' sums
      {"%max {dims = [0], shape", "%max {dims = [1], shape"},
      {"value = -1e30", "value = -100.0"},  // hides nothing
      {"direction = ge", "direction = gt"},
      {"%x = select %ge, %m, %low", "%x = select %ge, %low, %m"}};
  for (const auto& [from, to] : others) {
    const KernelCase test(written(from, to));
    EXPECT_EQ(calls(test), 0) << to;
    if (compiler() != nullptr) expect_agrees(test, random, to, 4, -1, 1);
  }
}

}  // namespace
}  // namespace hostir::cuda
