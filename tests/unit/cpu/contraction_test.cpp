// Matrix products: both kernel sets against naive sums in f64.
#include <fmt/format.h>

#include "kernel_case.h"

namespace hostir::cpu {
namespace {

std::vector<double> doubles(const Placement& placement, const Bytes& bytes) {
  std::vector<double> values;
  for (int64_t i = 0; i < placement.box.volume(); ++i) {
    values.push_back(load_double(placement.dtype, bytes.data() + i * size_bytes(placement.dtype)));
  }
  return values;
}

TEST(Matmul, AgreesWithNaiveSums) {
  std::mt19937_64 random(1);
  for (const char* dtype : {"f32", "bf16", "f16", "f64", "i32"}) {
    for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                  {5, 7, 3},
                                  {64, 300, 70},
                                  {130, 513, 257},
                                  {3, 0, 4},
                                  {0, 3, 4},
                                  {3, 4, 0},
                                  {1, 700, 900}}) {
      KernelCase test(
          fmt::format("kernel @k(%a: tensor<{1}x{3}x{0}>, %b: tensor<{3}x{2}x{0}>) -> (%y: "
                      "tensor<{1}x{2}x{0}>) "
                      "{{\n %y = matmul %a, %b\n return %y\n}}",
                      dtype, m, n, k));
      const auto inputs = test.random_inputs(random);
      const auto a = doubles(test.at("a"), inputs[0]);
      const auto b = doubles(test.at("b"), inputs[1]);
      Bytes wanted(static_cast<size_t>(test.at("y").local_bytes()));
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t p = 0; p < k; ++p) {
            sum += a[static_cast<size_t>(i * k + p)] * b[static_cast<size_t>(p * n + j)];
          }
          store_double(test.at("y").dtype,
                       wanted.data() + (i * n + j) * size_bytes(test.at("y").dtype), sum);
        }
      }
      const std::string what = fmt::format("{} {}x{}x{}", dtype, m, n, k);
      expect_close(test.at("y"), test.run(KernelSet::kReference, inputs)[0], wanted, what);
      expect_close(test.at("y"), test.run(KernelSet::kFast, inputs)[0], wanted, what);
    }
  }
}

TEST(Matmul, BatchesTransposesAndEpilogues) {
  std::mt19937_64 random(2);
  for (const char* dtype : {"f32", "bf16", "f64"}) {
    KernelCase attention(
        fmt::format(R"(kernel @k(%q: tensor<2x3x40x16x{0}>, %k: tensor<2x3x50x16x{0}>)
        -> (%y: tensor<2x3x40x50x{0}>) {{
  %t = transpose %k {{permutation = [0, 1, 3, 2]}}
  %s = matmul %q, %t
  %c = constant {{value = 0.25}} : tensor<2x3x40x50x{0}>
  %y = mul %s, %c
  return %y
}})",
                    dtype));
    expect_sets_agree(attention, random, dtype);
    KernelCase tall(fmt::format(
        R"(kernel @k(%x: tensor<3x5x64x{0}>, %w: tensor<64x300x{0}>, %r: tensor<3x5x300x{0}>)
        -> (%h: tensor<3x5x300x{0}>, %y: tensor<3x5x300x{0}>) {{
  %h = matmul %x, %w
  %g = gelu %h {{approximate = tanh}}
  %y = add %g, %r
  return %h, %y
}})",
        dtype));
    expect_sets_agree(tall, random, dtype);
  }
}

TEST(Linear, BiasRanksAndEpilogues) {
  std::mt19937_64 random(3);
  for (const char* dtype : {"f32", "bf16", "f16", "f64"}) {
    for (const char* lead : {"", "1x", "33x", "4x9x", "0x"}) {
      KernelCase test(fmt::format(
          R"(kernel @k(%x: tensor<{1}48x{0}>, %w: tensor<200x48x{0}>, %b: tensor<200x{0}>)
          -> (%y: tensor<{1}200x{0}>) {{
  %h = linear %x, %w, %b
  %y = gelu %h
  return %y
}})",
          dtype, lead));
      expect_sets_agree(test, random, fmt::format("{} {}", dtype, lead));
    }
  }
}

TEST(Prepack, GivesTheSameBitsAndFollowsVersions) {
  std::mt19937_64 random(4);
  for (const char* dtype : {"f32", "bf16"}) {
    for (const int64_t m : {1, 40, 200}) {
      KernelCase test(fmt::format(
          R"(kernel @k(%x: tensor<{1}x256x{0}>, %w: tensor<700x256x{0}>) -> (%y: tensor<{1}x700x{0}>) {{
  %h = linear %x, %w
  %y = relu %h
  return %y
}})",
          dtype, m));
      auto kernel = compile(test.bound, KernelSet::kFast);
      ASSERT_TRUE(kernel);
      auto inputs = test.random_inputs(random);
      const auto pack = [&](uint64_t version) {
        (*kernel)->prepack(1, {inputs[1].data(), static_cast<int64_t>(inputs[1].size()), version});
      };
      pack(7);
      EXPECT_GT((*kernel)->packed_bytes(), 0);
      expect_close(test.at("y"), test.run(**kernel, inputs, 7)[0],
                   test.run(KernelSet::kReference, inputs)[0], dtype);
      // When the contents change, the new version must not use the old packed data.
      const auto fresh = test.random_inputs(random);
      inputs[1].assign(fresh[1].begin(), fresh[1].end());
      const auto wanted = test.run(KernelSet::kReference, inputs);
      expect_close(test.at("y"), test.run(**kernel, inputs, 8)[0], wanted[0], "unpacked");
      pack(8);
      expect_close(test.at("y"), test.run(**kernel, inputs, 8)[0], wanted[0], "packed again");
    }
  }
}

// The accuracy needed by the tensor-parallel MLP (tolerance of a whole program): 2e-6 of the
// largest result.
TEST(Accuracy, WideMlp) {
  std::mt19937_64 random(5);
  KernelCase test(
      R"(kernel @k(%x: tensor<16x1024xf32>, %w1: tensor<2048x1024xf32>, %b1: tensor<2048xf32>, %w2: tensor<512x2048xf32>)
      -> (%y: tensor<16x512xf32>) {
  %h = linear %x, %w1, %b1
  %g = gelu %h {approximate = tanh}
  %y = linear %g, %w2
  return %y
})");
  expect_sets_agree(test, random, "mlp", 0.5, -1, 1);
}

}  // namespace
}  // namespace hostir::cpu
