// Pointwise ops, reductions and moves: the fast kernel set against the plain loops.
#include <fmt/format.h>

#include <limits>

#include "kernel_case.h"

namespace hostir::cpu {
namespace {

using Shape2 = std::pair<int64_t, int64_t>;
constexpr Shape2 kShapes[] = {{1, 1}, {3, 5}, {7, 130}, {33, 200}, {5, 3000}, {0, 4}, {300, 3}};

std::string type(Shape2 shape, std::string_view dtype) {
  return fmt::format("tensor<{}x{}x{}>", shape.first, shape.second, dtype);
}

TEST(Pointwise, UnaryOpsAgreeWithTheReference) {
  std::mt19937_64 random(1);
  for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16, DType::kI32}) {
    for (const std::string& op : pointwise_ops(1, dtype)) {
      for (const Shape2& shape : kShapes) {
        const std::string t = type(shape, name(dtype));
        KernelCase test(
            fmt::format("kernel @k(%x: {0}) -> (%y: {0}) {{\n %y = {1} %x\n return %y\n}}", t, op));
        expect_sets_agree(test, random, fmt::format("{} {}", op, t));
      }
    }
  }
}

// Zeros keep their sign. A subnormal result may differ by the rounding of its op, counted in units
// of the smallest subnormal; x * sigmoid(x) multiplies that error by x.
TEST(Pointwise, ZerosKeepTheirSignAndResultsUnderflowGradually) {
  const std::vector<float> values = {-0.0f,  0.0f,   1e-40f, -1e-40f, 3e-39f,  -1e-44f,
                                     1e-20f, -87.5f, -88.9f, -95.0f,  -100.0f, -103.0f};
  for (const char* op : {"neg", "abs", "sign", "relu", "floor", "exp", "sqrt", "sin", "tanh", "erf",
                         "sigmoid", "silu", "gelu"}) {
    KernelCase test(fmt::format(
        "kernel @k(%x: tensor<12xf32>) -> (%y: tensor<12xf32>) {{\n %y = {} %x\n return %y\n}}",
        op));
    Bytes input(values.size() * sizeof(float));
    std::memcpy(input.data(), values.data(), input.size());
    const std::vector<Bytes> fast = test.run(KernelSet::kFast, {input});
    const std::vector<Bytes> plain = test.run(KernelSet::kReference, {input});
    ASSERT_EQ(fast.size(), 1u);
    for (size_t i = 0; i < values.size(); ++i) {
      float got = 0;
      float want = 0;
      std::memcpy(&got, fast[0].data() + i * sizeof(float), sizeof got);
      std::memcpy(&want, plain[0].data() + i * sizeof(float), sizeof want);
      if (std::isnan(want) && std::isnan(got)) continue;
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << op << " " << values[i];
      const float smallest = std::numeric_limits<float>::denorm_min();
      const float room = 2 * smallest * std::max(1.0f, std::fabs(values[i]));
      EXPECT_LE(std::fabs(got - want), room + 1e-6f * std::fabs(want)) << op << " " << values[i];
    }
  }
}

TEST(Pointwise, BinaryOpsAgreeOnEveryDtype) {
  std::mt19937_64 random(2);
  for (const DType dtype : kAllDTypes) {
    for (const std::string& op : pointwise_ops(2, dtype)) {
      for (const Shape2& shape : kShapes) {
        const std::string t = type(shape, name(dtype));
        KernelCase test(fmt::format(
            "kernel @k(%x: {0}, %z: {0}) -> (%y: {0}) {{\n %y = {1} %x, %z\n return %y\n}}", t,
            op));
        expect_sets_agree(test, random, fmt::format("{} {}", op, t));
      }
    }
  }
}

TEST(Pointwise, CastsBetweenAllDtypes) {
  std::mt19937_64 random(3);
  for (const DType from : kAllDTypes) {
    for (const DType to : kAllDTypes) {
      const Shape2 shape{5, 77};
      KernelCase test(
          fmt::format("kernel @k(%x: {}) -> (%y: {}) {{\n %y = cast %x {{to = {}}}\n return %y\n}}",
                      type(shape, name(from)), type(shape, name(to)), name(to)));
      expect_sets_agree(test, random, fmt::format("{} to {}", name(from), name(to)), 1, -400, 400);
    }
  }
}

TEST(Pointwise, CompareSelectAndLogic) {
  std::mt19937_64 random(4);
  for (const char* dtype : {"f64", "f32", "bf16", "f8e5m2", "i64", "i8", "u64", "u32"}) {
    for (const char* direction : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      KernelCase test(fmt::format(R"(kernel @k(%a: tensor<9x41x{0}>, %b: tensor<9x41x{0}>)
          -> (%y: tensor<9x41x{0}>, %m: tensor<9x41xi1>) {{
  %p = compare %a, %b {{direction = {1}}}
  %q = compare %b, %a {{direction = lt}}
  %n = logical_not %q
  %o = logical_or %p, %n
  %m = logical_and %o, %p
  %y = select %m, %a, %b
  return %y, %m
}})",
                                  dtype, direction));
      expect_sets_agree(test, random, fmt::format("{} {}", dtype, direction));
    }
  }
}

TEST(Pointwise, ChainWithBroadcastsAndSeveralResults) {
  std::mt19937_64 random(5);
  for (const char* dtype : {"f32", "bf16", "f64"}) {
    for (const Shape2& shape : kShapes) {
      KernelCase test(fmt::format(
          R"(kernel @k(%x: tensor<{1}x{2}x{0}>, %row: tensor<{2}x{0}>, %column: tensor<{1}x1x{0}>)
          -> (%y: tensor<{1}x{2}x{0}>, %s: tensor<{1}x{0}>, %c: tensor<{2}x{0}>, %t: tensor<{2}x{1}x{0}>) {{
  %r = broadcast_in_dim %row {{dims = [1], shape = [{1}, {2}]}}
  %q = broadcast_in_dim %column {{dims = [0, 1], shape = [{1}, {2}]}}
  %a = mul %x, %r
  %b = add %a, %q
  %h = constant {{value = 0.5}} : tensor<{1}x{2}x{0}>
  %y = mul %b, %h
  %s = reduce_sum %y {{dims = [1]}}
  %c = reduce_max %b {{dims = [0]}}
  %t = transpose %y {{permutation = [1, 0]}}
  return %y, %s, %c, %t
}})",
          dtype, shape.first, shape.second));
      expect_sets_agree(test, random, fmt::format("{} {}x{}", dtype, shape.first, shape.second));
    }
  }
}

// Chains of cheap ops run in registers. Covers every op, results used once and more often, rows of
// any length, one to three results.
TEST(Pointwise, ChainsOfCheapOpsKeepTheirBits) {
  std::mt19937_64 random(10);
  const std::vector<const char*> ops = {
      "add %{0}, %z",     "sub %{0}, %z",     "mul %{0}, %z",       "maximum %{0}, %z",
      "minimum %{0}, %z", "add %{0}, %c",     "sub %c, %{0}",       "mul %c, %{0}",
      "maximum %c, %{0}", "minimum %{0}, %c", "neg %{0}",           "abs %{0}",
      "relu %{0}",        "sub %z, %{0}",     "div %{0}, %c",       "add %{0}, %{0}",
      "mul %{0}, %{0}",   "maximum %z, %{0}", "sub %{0}, %row",     "add %x, %{0}",
      "maximum %{0}, %x", "mul %{0}, %v2",    "select %m, %z, %{0}"};
  for (const char* dtype : {"f32", "bf16", "f16", "f64"}) {
    for (int round = 0; round < 80; ++round) {
      std::string body;
      std::string last = "x";
      for (int i = 0; i < 12; ++i) {
        const size_t count = i > 2 ? ops.size() : 21;
        body +=
            fmt::format("  %v{} = {}\n", i, fmt::format(fmt::runtime(ops[random() % count]), last));
        if (random() % 5 != 0) last = fmt::format("v{}", i);
      }
      const std::string type =
          fmt::format("tensor<{}x{}x{}>", 1 + random() % 4, 1 + random() % 2500, dtype);
      KernelCase test(fmt::format(
          R"(kernel @k(%x: {0}, %z: {0}, %row: {0}) -> (%v11: {0}, %v2: {0}, %v5: {0}) {{
  %c = constant {{value = 1.25}} : {0}
  %m = compare %x, %z {{direction = lt}}
{1}  return %v11, %v2, %v5
}})",
          type, body));
      if (test.bound.function == nullptr) continue;
      const auto inputs = test.random_inputs(random);
      EXPECT_EQ(test.run(KernelSet::kFast, inputs), test.run(KernelSet::kReference, inputs))
          << type << "\n"
          << body;
    }
  }
}

// Rows of a bias: several rows are computed together, and the last ones of a tile may be fewer.
TEST(Pointwise, RowsOfABiasKeepTheirBits) {
  std::mt19937_64 random(13);
  for (const char* dtype : {"f32", "bf16", "f16", "f64", "i32"}) {
    for (const auto& [rows, columns] : {Shape2{37, 100},
                                        {41, 128},
                                        {37, 200},
                                        {90, 300},
                                        {19, 768},
                                        {5, 1024},
                                        {7, 1030},
                                        {3, 2048}}) {
      KernelCase test(fmt::format(
          R"(kernel @k(%x: tensor<{1}x{2}x{0}>, %row: tensor<{2}x{0}>)
          -> (%y: tensor<{1}x{2}x{0}>, %z: tensor<{1}x{2}x{0}>, %m: tensor<{1}x{0}>) {{
  %r = broadcast_in_dim %row {{dims = [1], shape = [{1}, {2}]}}
  %y = add %x, %r
  %a = mul %y, %x
  %z = maximum %a, %r
  %m = reduce_max %z {{dims = [1]}}
  return %y, %z, %m
}})",
          dtype, rows, columns));
      const auto inputs = test.random_inputs(random);
      EXPECT_EQ(test.run(KernelSet::kFast, inputs), test.run(KernelSet::kReference, inputs))
          << dtype << " " << rows << "x" << columns;
    }
  }
}

// Results too large for the caches, at addresses not aligned to cache lines.
TEST(Pointwise, LargeResults) {
  std::mt19937_64 random(12);
  for (const char* type : {"tensor<3x1400007xf32>", "tensor<9000011xbf16>"}) {
    KernelCase test(fmt::format(R"(kernel @k(%x: {0}, %z: {0}) -> (%d: {0}) {{
  %a = add %x, %z
  %b = mul %a, %x
  %c = maximum %b, %z
  %d = neg %c
  return %d
}})",
                                type));
    const auto inputs = test.random_inputs(random);
    EXPECT_TRUE(test.run(KernelSet::kFast, inputs) == test.run(KernelSet::kReference, inputs))
        << type;
  }
}

TEST(Pointwise, SoftmaxAndNorm) {
  std::mt19937_64 random(6);
  for (const Shape2& shape : {Shape2{1, 1}, {4, 7}, {65, 257}, {2, 5000}}) {
    KernelCase test(fmt::format(
        R"(kernel @k(%x: tensor<{0}x{1}xf32>) -> (%y: tensor<{0}x{1}xf32>, %n: tensor<{0}x{1}xf32>) {{
  %m = reduce_max %x {{dims = [1]}}
  %mb = broadcast_in_dim %m {{dims = [0], shape = [{0}, {1}]}}
  %d = sub %x, %mb
  %e = exp %d
  %s = reduce_sum %e {{dims = [1], keep_dims = true}}
  %sb = broadcast_in_dim %s {{dims = [0, 1], shape = [{0}, {1}]}}
  %y = div %e, %sb
  %a = reduce_mean %x {{dims = [1]}}
  %ab = broadcast_in_dim %a {{dims = [0], shape = [{0}, {1}]}}
  %n = sub %x, %ab
  return %y, %n
}})",
        shape.first, shape.second));
    expect_sets_agree(test, random, fmt::format("{}x{}", shape.first, shape.second));
  }
}

/// `4x` for `3x4x5` without the dimensions `[0, 2]`.
std::string without(std::string_view shape, std::string_view dims) {
  std::string out;
  for (char d = '0'; !shape.empty(); ++d) {
    const size_t end = std::min(shape.find('x'), shape.size());
    if (dims.find(d) == std::string_view::npos) out += std::string(shape.substr(0, end)) + "x";
    shape.remove_prefix(std::min(end + 1, shape.size()));
  }
  return out;
}

TEST(Fold, EveryDimensionSetAndDtype) {
  std::mt19937_64 random(7);
  const char* dims[] = {"[]", "[0]", "[1]", "[2]", "[0, 1]", "[0, 2]", "[1, 2]", "[0, 1, 2]"};
  for (const char* shape : {"3x4x5", "1x300x7", "70x1x90", "2x0x3", "40x50x60"}) {
    for (const char* op :
         {"reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_mean"}) {
      for (const char* dtype : {"f32", "f64", "bf16", "i32", "u8"}) {
        if (std::string_view(op) == "reduce_mean" && dtype[0] != 'f' && dtype[0] != 'b') continue;
        for (const char* d : dims) {
          KernelCase test(fmt::format(
              "kernel @k(%x: tensor<{}x{}>) -> (%y: tensor<{}{}>) {{\n %y = {} %x {{dims = {}}}\n"
              " return %y\n}}",
              shape, dtype, without(shape, d), dtype, op, d));
          expect_sets_agree(test, random, fmt::format("{} {}x{} {}", op, shape, dtype, d), 1, 0.9,
                            1.1);
        }
      }
    }
  }
}

TEST(Moves, ViewsOfViews) {
  std::mt19937_64 random(8);
  KernelCase test(R"(kernel @k(%x: tensor<6x8x5xf32>, %z: tensor<3x40xf32>)
      -> (%a: tensor<5x4x3xf32>, %b: tensor<40x3xf32>, %c: tensor<5x12xf32>, %d: tensor<9x40xf32>) {
  %s = slice %x {start = [1, 0, 0], limit = [6, 8, 5], stride = [2, 2, 1]}
  %a = transpose %s {permutation = [2, 1, 0]}
  %b = transpose %z {permutation = [1, 0]}
  %c = reshape %a {shape = [5, 12]}
  %w = neg %z
  %d = concat %z, %w, %z {dim = 0}
  return %a, %b, %c, %d
})");
  expect_sets_agree(test, random, "views");
}

// Contiguous runs of one element, part of a row and whole rows, for all element sizes.
TEST(Moves, ConcatAlongEveryDimension) {
  std::mt19937_64 random(11);
  for (const char* dtype : {"i8", "bf16", "f32", "i64", "i1"}) {
    for (int dim = 0; dim < 3; ++dim) {
      for (const int width : {0, 1, 3, 700}) {
        const auto type = [&](int extent) {
          std::vector<int> extents = {2, 3, 5};
          extents[dim == 0 ? 2 : 0] = 130;
          extents[static_cast<size_t>(dim)] = extent;
          return fmt::format("tensor<{}x{}>", fmt::join(extents, "x"), dtype);
        };
        KernelCase test(
            fmt::format("kernel @k(%x: {}, %y: {}) -> (%r: {}) {{\n"
                        "  %r = concat %x, %y, %x {{dim = {}}}\n  return %r\n}}",
                        type(width), type(4), type(2 * width + 4), dim));
        if (test.bound.function == nullptr) continue;
        const auto inputs = test.random_inputs(random, 0, 1);
        EXPECT_EQ(test.run(KernelSet::kFast, inputs), test.run(KernelSet::kReference, inputs))
            << dtype << " dim " << dim << " width " << width;
      }
    }
  }
}

TEST(InPlace, OutputsMayShareMemoryWithInputs) {
  std::mt19937_64 random(9);
  KernelCase chain(
      R"(kernel @k(%x: tensor<50x70xf32>, %z: tensor<50x70xf32>) -> (%y: tensor<50x70xf32>) {
  %a = mul %x, %z
  %y = add %a, %x
  return %y
})");
  KernelCase swap(
      R"(kernel @k(%x: tensor<50x70xf32>, %z: tensor<50x70xf32>) -> (%p: tensor<50x70xf32>, %q: tensor<70x50xf32>) {
  %q = transpose %x {permutation = [1, 0]}
  return %z, %q
})");
  for (const KernelCase* test : {&chain, &swap}) {
    for (const KernelSet set : {KernelSet::kReference, KernelSet::kFast}) {
      std::vector<Bytes> inputs = test->random_inputs(random);
      const auto wanted = test->run(KernelSet::kReference, inputs);
      auto kernel = compile(test->bound, set);
      ASSERT_TRUE(kernel);
      std::vector<ConstMemory> in;
      std::vector<Memory> out;
      for (Bytes& bytes : inputs) in.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
      for (size_t r = 0; r < wanted.size(); ++r) {
        out.push_back({inputs[r].data(), static_cast<int64_t>(inputs[r].size())});
      }
      (*kernel)->run(in, out);
      for (size_t r = 0; r < wanted.size(); ++r) EXPECT_EQ(inputs[r], wanted[r]);
    }
  }
}

}  // namespace
}  // namespace hostir::cpu
