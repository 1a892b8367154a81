// Ops that move elements, reduce them, or normalise rows.
#include <fmt/format.h>

#include "cuda_case.h"

namespace hostir::cuda {
namespace {

TEST(CudaMoves, ViewsAndCopies) {
  std::mt19937_64 random(1);
  for (const char* dtype : {"f32", "bf16", "i8", "f64", "i1"}) {
    const KernelCase test(fmt::format(
        R"(kernel @k(%x: tensor<6x10x16x{0}>, %b: tensor<10x{0}>, %v: tensor<16x{0}>)
    -> (%t: tensor<16x6x10x{0}>, %h: tensor<6x160x{0}>, %c: tensor<6x10x32x{0}>,
        %s: tensor<3x4x5x{0}>, %m: tensor<10x96x{0}>, %w: tensor<6x10x16x{0}>,
        %g: tensor<6x26x16x{0}>) {{
  %t = transpose %x {{permutation = [2, 0, 1]}}
  %h = reshape %x {{shape = [6, 160]}}
  %vv = broadcast_in_dim %v {{dims = [2], shape = [6, 10, 16]}}
  %c = concat %x, %vv {{dim = 2}}
  %s = slice %x {{start = [1, 2, 3], limit = [6, 10, 16], stride = [2, 2, 3]}}
  %p = transpose %x {{permutation = [1, 0, 2]}}
  %m = reshape %p {{shape = [10, 96]}}
  %bb = broadcast_in_dim %b {{dims = [1], shape = [6, 10, 16]}}
  %e = compare %bb, %x {{direction = lt}}
  %w = select %e, %x, %bb
  %q = slice %w {{start = [0, 1, 0], limit = [6, 7, 16]}}
  %g = concat %q, %x, %w {{dim = 1}}
  return %t, %h, %c, %s, %m, %w, %g
}})",
        dtype));
    expect_agrees(test, random, fmt::format("moves {}", dtype));
    if (compiler() == nullptr) break;
    expect_agrees(test, random, fmt::format("moves {} unaligned", dtype), 1, -2, 2,
                  {.unaligned = true});
  }
}

TEST(CudaMoves, BoxesOfMovesAreParts) {
  std::mt19937_64 random(2);
  // Dimension 0 is cut unevenly, down to zero rows; heads are split off a cut dimension.
  for (const auto& [lo, hi] : std::vector<std::pair<int64_t, int64_t>>{{0, 5}, {1, 4}, {3, 3}}) {
    KernelCase test(R"(kernel @k(%x: tensor<5x9x4xf32>, %b: tensor<9xf32>)
      -> (%y: tensor<5x9x4xf32>, %h: tensor<5x36xf32>, %u: tensor<45x4xf32>) {
  %c = broadcast_in_dim %b {dims = [1], shape = [5, 9, 4]}
  %y = mul %x, %c
  %n = neg %y
  %g = concat %n, %x {dim = 2}
  %w = reduce_max %g {dims = [2], keep_dims = true}
  %v = broadcast_in_dim %w {dims = [0, 1, 2], shape = [5, 9, 4]}
  %q = sub %v, %x
  %h = reshape %q {shape = [5, 36]}
  %u = reshape %y {shape = [45, 4]}
  return %y, %h, %u
})");
    for (const char* name : {"x", "c", "y", "n", "g", "w", "v", "q", "h"}) {
      test.at(name).box.lo[0] = lo;
      test.at(name).box.hi[0] = hi;
    }
    test.at("u").box.lo[0] = lo * 9;
    test.at("u").box.hi[0] = hi * 9;
    expect_agrees(test, random, fmt::format("boxes {}..{}", lo, hi));
    if (compiler() == nullptr) break;
  }
}

TEST(CudaMoves, BlockOrderAndBack) {
  std::mt19937_64 random(3);
  KernelCase pack(R"(mesh @m = <x=3>
kernel @k(%x: tensor<5x7xf32>) -> (%y: tensor<5x7xf32>) {
  %y = pack %x {blocks = <@m, [{}, {x}]>}
  return %y
})");
  Box left = Box::whole({5, 7}), middle = left, right = left;
  left.hi[1] = middle.lo[1] = 3;
  middle.hi[1] = right.lo[1] = 6;
  pack.at("y").blocks = {left, middle, right};
  expect_agrees(pack, random, "pack");
  KernelCase unpack(R"(mesh @m = <x=3>
kernel @k(%x: tensor<5x7xf32>) -> (%y: tensor<5x7xf32>) {
  %y = unpack %x {blocks = <@m, [{}, {x}]>}
  return %y
})");
  unpack.at("x").blocks = {left, middle, right};
  expect_agrees(unpack, random, "unpack");
}

TEST(CudaFolds, EveryFoldOfEveryDType) {
  std::mt19937_64 random(4);
  struct Case {
    Extents extents;
    std::string dims;
    Extents result;
  };
  std::vector<Case> cases = {
      {{9, 5, 64}, "[2]", {9, 5}},   {{9, 5, 64}, "[0]", {5, 64}},  {{9, 5, 64}, "[1]", {9, 64}},
      {{9, 5, 64}, "[0, 2]", {5}},   {{9, 5, 64}, "[0, 1, 2]", {}}, {{4, 70000}, "[1]", {4}},
      {{70000, 12}, "[0]", {12}},    {{300, 7}, "[1]", {300}},      {{300, 130}, "[0]", {130}},
      {{3, 0}, "[1]", {3}},          {{1, 1}, "[0]", {1}},          {{2000, 513}, "[1]", {2000}},
      {{64, 40, 24}, "[1, 2]", {64}}};
  if (compiler() == nullptr) cases.resize(4);
  const auto shape = [](const Extents& extents, DType dtype) {
    std::string text = "tensor<";
    for (const int64_t e : extents) text += fmt::format("{}x", e);
    return text + std::string(name(dtype)) + ">";
  };
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64, DType::kI64,
                            DType::kI32, DType::kI8, DType::kU8}) {
    for (const Case& c : cases) {
      std::vector<std::string> ops = {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod"};
      if (is_float(dtype)) ops.push_back("reduce_mean");
      std::string results, body, names;
      for (size_t i = 0; i < ops.size(); ++i) {
        results += fmt::format("{}%y{}: {}", i ? ", " : "", i, shape(c.result, dtype));
        names += fmt::format("{}%y{}", i ? ", " : "", i);
        body += fmt::format("  %y{} = {} {} {{dims = {}}}\n", i, ops[i],
                            ops[i] == "reduce_prod" ? "%z" : "%x", c.dims);
      }
      const std::string t = shape(c.extents, dtype);
      const KernelCase test(
          fmt::format("kernel @k(%x: {0}) -> ({1}) {{\n  %o = constant {{value = 1.0}} : {0}\n"
                      "  %d = maximum %x, %o\n  %z = minimum %d, %o\n{2}  return {3}\n}}",
                      t, results, body, names));
      expect_agrees(test, random, fmt::format("folds of {} over {}", t, c.dims), 4);
    }
    if (compiler() == nullptr && dtype == DType::kF16) break;
  }
}

std::string softmax(int64_t rows, int64_t columns, const char* dtype) {
  return fmt::format(
      R"(kernel @softmax(%x: tensor<{0}x{1}x{2}>) -> (%y: tensor<{0}x{1}x{2}>) {{
  %m = reduce_max %x {{dims = [1], keep_dims = true}}
  %mb = broadcast_in_dim %m {{dims = [0, 1], shape = [{0}, {1}]}}
  %d = sub %x, %mb
  %e = exp %d
  %s = reduce_sum %e {{dims = [1]}}
  %sb = broadcast_in_dim %s {{dims = [0], shape = [{0}, {1}]}}
  %y = div %e, %sb
  return %y
}})",
      rows, columns, dtype);
}

std::string layer_norm(int64_t rows, int64_t columns, const char* dtype) {
  return fmt::format(
      R"(kernel @layer_norm(%x: tensor<{0}x{1}x{2}>, %g: tensor<{1}x{2}>, %b: tensor<{1}x{2}>)
    -> (%y: tensor<{0}x{1}x{2}>, %mean: tensor<{0}xf32>) {{
  %f = cast %x {{to = f32}}
  %mean = reduce_mean %f {{dims = [1]}}
  %mb = broadcast_in_dim %mean {{dims = [0], shape = [{0}, {1}]}}
  %d = sub %f, %mb
  %q = mul %d, %d
  %v = reduce_mean %q {{dims = [1]}}
  %eps = constant {{value = 1e-5}} : tensor<{0}xf32>
  %ve = add %v, %eps
  %r = rsqrt %ve
  %rb = broadcast_in_dim %r {{dims = [0], shape = [{0}, {1}]}}
  %n = mul %d, %rb
  %g32 = cast %g {{to = f32}}
  %gb = broadcast_in_dim %g32 {{dims = [1], shape = [{0}, {1}]}}
  %b32 = cast %b {{to = f32}}
  %bb = broadcast_in_dim %b32 {{dims = [1], shape = [{0}, {1}]}}
  %ng = mul %n, %gb
  %nb = add %ng, %bb
  %y = cast %nb {{to = {2}}}
  return %y, %mean
}})",
      rows, columns, dtype);
}

TEST(CudaFolds, NormalisationsAreOnePass) {
  std::mt19937_64 random(5);
  using RowsColumns = std::pair<int64_t, int64_t>;
  std::vector<RowsColumns> shapes = {{5, 64},     {7, 33},    {300, 4096}, {3, 16384},
                                     {130, 1000}, {264, 520}, {1, 8192},   {300, 40000}};
  if (compiler() == nullptr) shapes = {{300, 4096}};
  for (const RowsColumns& shape : shapes) {
    for (const char* dtype : {"bf16", "f32"}) {
      const KernelCase s(softmax(shape.first, shape.second, dtype));
      expect_agrees(s, random, fmt::format("softmax {}x{} {}", shape.first, shape.second, dtype),
                    2);
      const auto sources = generate_sources(s.bound);
      ASSERT_TRUE(sources);
      EXPECT_EQ(sources->size(), 1u) << "softmax is not one kernel";
      const KernelCase n(layer_norm(shape.first, shape.second, dtype));
      expect_agrees(n, random, fmt::format("layer norm {}x{} {}", shape.first, shape.second, dtype),
                    4);
      if (compiler() != nullptr) {
        expect_agrees(s, random, "softmax in place", 2, -2, 2, {.in_place = 0});
      }
    }
  }
}

}  // namespace
}  // namespace hostir::cuda
