// Matrix products with their epilogues, and random groups.
#include <fmt/format.h>

#include "cuda_case.h"

namespace hostir::cuda {
namespace {

TEST(CudaProducts, EveryDTypeAndLayout) {
  std::mt19937_64 random(1);
  for (const char* dtype : {"f32", "bf16", "f16", "f64", "i64", "i32", "i8", "u8"}) {
    const KernelCase test(fmt::format(
        R"(kernel @k(%a: tensor<37x24x{0}>, %b: tensor<24x53x{0}>, %w: tensor<53x24x{0}>,
              %c: tensor<53x{0}>, %q: tensor<3x4x16x8x{0}>, %k: tensor<3x4x12x8x{0}>,
              %x: tensor<24x{0}>)
    -> (%y: tensor<37x53x{0}>, %z: tensor<37x53x{0}>, %t: tensor<53x37x{0}>,
        %s: tensor<3x4x16x12x{0}>, %u: tensor<3x16x4x12x{0}>, %v: tensor<53x{0}>) {{
  %y = matmul %a, %b
  %z = linear %a, %w, %c
  %at = transpose %a {{permutation = [1, 0]}}
  %t = matmul %w, %at
  %kt = transpose %k {{permutation = [0, 1, 3, 2]}}
  %s = matmul %q, %kt
  %q1 = transpose %q {{permutation = [0, 2, 1, 3]}}
  %k1 = reshape %kt {{shape = [3, 4, 8, 12]}}
  %k2 = slice %k1 {{start = [0, 0, 0, 0], limit = [3, 1, 8, 12]}}
  %k3 = reshape %k2 {{shape = [3, 1, 8, 12]}}
  %k4 = broadcast_in_dim %k3 {{dims = [0, 1, 2, 3], shape = [3, 16, 8, 12]}}
  %u = matmul %q1, %k4
  %v = linear %x, %w, %c
  return %y, %z, %t, %s, %u, %v
}})",
        dtype));
    expect_agrees(test, random, fmt::format("products {}", dtype), 4);
    if (compiler() == nullptr) continue;
    expect_agrees(test, random, fmt::format("products {} unaligned", dtype), 4, -2, 2,
                  {.unaligned = true});
    // Products that repeat are launched from a recording.
    expect_agrees(test, random, fmt::format("products {} repeated", dtype), 4, -2, 2,
                  {.launches = 6});
    expect_agrees(test, random, fmt::format("products {} unaligned, repeated", dtype), 4, -2, 2,
                  {.unaligned = true, .launches = 6});
  }
}

TEST(CudaProducts, Epilogues) {
  std::mt19937_64 random(2);
  for (const char* dtype : {"bf16", "f32", "f16", "f64"}) {
    for (const char* after : {"gelu %h {approximate = tanh}", "relu %h", "gelu %h", "add %h, %r",
                              "add %r, %h", "add %h, %cb"}) {
      const KernelCase test(fmt::format(
          R"(kernel @k(%x: tensor<4x30x64x{0}>, %w: tensor<48x64x{0}>, %b: tensor<48x{0}>,
              %r: tensor<4x30x48x{0}>) -> (%y: tensor<4x30x48x{0}>, %n: tensor<4x30x48x{0}>) {{
  %cb = broadcast_in_dim %b {{dims = [2], shape = [4, 30, 48]}}
  %h = linear %x, %w
  %p = {1}
  %y = relu %p
  %n = neg %y
  return %y, %n
}})",
          dtype, after));
      expect_agrees(test, random, fmt::format("{} {}", dtype, after), 4);
      if (compiler() == nullptr) continue;
      expect_agrees(test, random, fmt::format("{} {} exact", dtype, after), 4, -2, 2,
                    {.exact_epilogues = true});
      expect_agrees(test, random, fmt::format("{} {} in place", dtype, after), 4, -2, 2,
                    {.in_place = 3});
      expect_agrees(test, random, fmt::format("{} {} repeated", dtype, after), 4, -2, 2,
                    {.in_place = 3, .launches = 6});
    }
  }
}

TEST(CudaProducts, PartsOfAContraction) {
  std::mt19937_64 random(3);
  for (const auto& [lo, hi] :
       std::vector<std::pair<int64_t, int64_t>>{{0, 20}, {3, 6}, {18, 20}, {20, 20}}) {
    KernelCase test(
        "kernel @k(%a: tensor<6x20xf32>, %b: tensor<20x8xf32>) -> (%y: tensor<6x8xf32>) {\n"
        "  %y = matmul %a, %b\n  return %y\n}");
    test.at("a").box.lo[1] = test.at("b").box.lo[0] = lo;
    test.at("a").box.hi[1] = test.at("b").box.hi[0] = hi;
    expect_agrees(test, random, fmt::format("k in {}..{}", lo, hi), 2);
  }
}

TEST(CudaProducts, AttentionAsWritten) {
  std::mt19937_64 random(4);
  for (const char* dtype : {"bf16", "f32"}) {
    const KernelCase test(fmt::format(
        R"(kernel @attention(%qkv: tensor<2x32x3x4x16x{0}>) -> (%o: tensor<2x32x64x{0}>) {{
  %t = transpose %qkv {{permutation = [2, 0, 3, 1, 4]}}
  %q0 = slice %t {{start = [0, 0, 0, 0, 0], limit = [1, 2, 4, 32, 16]}}
  %k0 = slice %t {{start = [1, 0, 0, 0, 0], limit = [2, 2, 4, 32, 16]}}
  %v0 = slice %t {{start = [2, 0, 0, 0, 0], limit = [3, 2, 4, 32, 16]}}
  %q = reshape %q0 {{shape = [2, 4, 32, 16]}}
  %k = reshape %k0 {{shape = [2, 4, 32, 16]}}
  %v = reshape %v0 {{shape = [2, 4, 32, 16]}}
  %kt = transpose %k {{permutation = [0, 1, 3, 2]}}
  %s = matmul %q, %kt
  %c = constant {{value = 0.25}} : tensor<2x4x32x32x{0}>
  %sc = mul %s, %c
  %i = iota {{dim = 2}} : tensor<2x4x32x32xi32>
  %j = iota {{dim = 3}} : tensor<2x4x32x32xi32>
  %ge = compare %i, %j {{direction = ge}}
  %ninf = constant {{value = -1e30}} : tensor<2x4x32x32x{0}>
  %ma = select %ge, %sc, %ninf
  %mx = reduce_max %ma {{dims = [3], keep_dims = true}}
  %mb = broadcast_in_dim %mx {{dims = [0, 1, 2, 3], shape = [2, 4, 32, 32]}}
  %d = sub %ma, %mb
  %e = exp %d
  %z = reduce_sum %e {{dims = [3], keep_dims = true}}
  %zb = broadcast_in_dim %z {{dims = [0, 1, 2, 3], shape = [2, 4, 32, 32]}}
  %p = div %e, %zb
  %a = matmul %p, %v
  %at = transpose %a {{permutation = [0, 2, 1, 3]}}
  %o = reshape %at {{shape = [2, 32, 64]}}
  return %o
}})",
        dtype));
    expect_agrees(test, random, fmt::format("attention {}", dtype), 4);
  }
}

// Random chains of elementwise ops, row and column reductions, broadcasts and transposes.
TEST(CudaProducts, RandomGroups) {
  std::mt19937_64 random(5);
  const int rounds = compiler() != nullptr ? 150 : 6;
  for (int round = 0; round < rounds; ++round) {
    const auto pick = [&](auto... options) {
      const std::vector<std::string> all = {options...};
      return all[random() % all.size()];
    };
    const std::vector<int64_t> sizes = {1, 2, 3, 8, 17, 32, 64, 100, 256, 1030};
    const int64_t m = sizes[random() % sizes.size()];
    const int64_t n = sizes[random() % sizes.size()];
    const std::string dtype = pick("f32", "bf16", "f16", "f64");
    const std::string full = fmt::format("tensor<{}x{}x{}>", m, n, dtype);
    std::vector<std::string> live = {"%a", "%b"};
    std::string body;
    const auto any = [&] { return live[random() % live.size()]; };
    for (int i = 0; i < 14; ++i) {
      const std::string x = any();
      const std::string y = any();
      std::string made = fmt::format("%v{}", i);
      switch (random() % 7) {
        case 0:
        case 1:
          body +=
              fmt::format("  {} = {} {}, {}\n", made, pick("add", "sub", "mul", "maximum"), x, y);
          break;
        case 2:
          body +=
              fmt::format("  {} = {} {}\n", made, pick("tanh", "neg", "sigmoid", "relu", "sin"), x);
          break;
        case 3: {
          const std::string dim = pick("0", "1");
          const std::string keep = pick("true", "false");
          const std::string dims = keep == "true" ? "[0, 1]" : dim == "0" ? "[1]" : "[0]";
          body += fmt::format("  %f{} = {} {} {{dims = [{}], keep_dims = {}}}\n", i,
                              pick("reduce_mean", "reduce_max", "reduce_min"), x, dim, keep);
          if (random() % 2 == 0)
            body += fmt::format("  %g{0} = tanh %f{0}\n", i);
          else
            body += fmt::format("  %g{0} = neg %f{0}\n", i);
          body += fmt::format("  %h{0} = add %f{0}, %g{0}\n", i);
          body += fmt::format("  {} = broadcast_in_dim %h{} {{dims = {}, shape = [{}, {}]}}\n",
                              made, i, dims, m, n);
          break;
        }
        case 4:
          body += fmt::format(
              "  %t{0} = transpose {1} {{permutation = [1, 0]}}\n  %u{0} = tanh %t{0}\n"
              "  {2} = transpose %u{0} {{permutation = [1, 0]}}\n",
              i, x, made);
          break;
        case 5:
          body += fmt::format("  %c{0} = constant {{value = 0.5}} : {1}\n  {2} = mul {3}, %c{0}\n",
                              i, full, made, x);
          break;
        default:
          body += fmt::format(
              "  %r{0} = reshape {1} {{shape = [{2}]}}\n  %s{0} = neg %r{0}\n"
              "  {3} = reshape %s{0} {{shape = [{4}, {5}]}}\n",
              i, x, m * n, made, m, n);
      }
      live.push_back(made);
    }
    const std::string second = any();
    const std::string text = fmt::format(
        "kernel @k(%a: {0}, %b: {0}) -> (%y: {0}, %z: {0}) {{\n{1}  %y = add %v13, %a\n  %z = neg "
        "{2}\n  return %y, %z\n}}",
        full, body, second);
    const KernelCase test(text);
    expect_agrees(test, random, text, 16, -1, 1, {.in_place = round % 4 == 0 ? 0 : -1});
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace hostir::cuda
