// Elementwise ops: every op and dtype, odd shapes and boxes.
#include <fmt/format.h>

#include <algorithm>

#include "cuda_case.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"
#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {
namespace {

using Shape2 = std::pair<int64_t, int64_t>;

std::vector<Shape2> shapes() {
  if (compiler() == nullptr) return {{3, 10}};
  return {{3, 5}, {33, 256}, {5, 3000}, {0, 4}};
}

std::string joined(const std::vector<std::string>& parts) {
  return fmt::format("{}", fmt::join(parts, ", "));
}

// One kernel with many ops that returns all their results.
std::string kernel_of(const std::vector<std::string>& parameters,
                      const std::vector<std::pair<std::string, std::string>>& lines) {
  std::vector<std::string> results;
  std::vector<std::string> names;
  std::string body;
  for (size_t i = 0; i < lines.size(); ++i) {
    names.push_back(fmt::format("%y{}", i));
    results.push_back(fmt::format("%y{}: {}", i, lines[i].second));
    body += fmt::format("  %y{} = {}\n", i, lines[i].first);
  }
  return fmt::format("kernel @k({}) -> ({}) {{\n{}  return {}\n}}", joined(parameters),
                     joined(results), body, joined(names));
}

TEST(CudaElements, EveryComputeOpHasARecord) {
  for (size_t k = 0; k < kOpCount; ++k) {
    const auto kind = static_cast<OpKind>(k);
    if (record(kind).op_class != OpClass::kCompute) continue;
    const CudaOp& op = cuda_op(kind);
    if (op.form == CudaOp::Form::kNone) {
      EXPECT_FALSE(op.missing.empty()) << record(kind).mnemonic;
      continue;
    }
    const bool is_pointwise = op.form == CudaOp::Form::kPointwise;
    EXPECT_EQ(op.lane != nullptr, is_pointwise) << record(kind).mnemonic;
    EXPECT_EQ(op.form == CudaOp::Form::kReduction, record(kind).shape == OpShape::kReduction)
        << record(kind).mnemonic;
    EXPECT_EQ(op.form == CudaOp::Form::kProduct, record(kind).shape == OpShape::kContraction)
        << record(kind).mnemonic;
  }
}

// A test each, so that they can run in different processes: NVRTC takes seconds for some.
class CudaElementsOf : public testing::TestWithParam<DType> {};

TEST_P(CudaElementsOf, UnaryAndBinaryOps) {
  const DType dtype = GetParam();
  const auto tested = tested_dtypes();
  if (!contains(tested, dtype)) return;
  std::mt19937_64 random(1);
  for (const Shape2& shape : shapes()) {
    const std::string t = fmt::format("tensor<{}x{}x{}>", shape.first, shape.second, name(dtype));
    const std::string b = fmt::format("tensor<{}x{}xi1>", shape.first, shape.second);
    std::vector<std::pair<std::string, std::string>> lines;
    for (const std::string& op : cpu::pointwise_ops(1, dtype)) lines.emplace_back(op + " %a", t);
    for (const std::string& op : cpu::pointwise_ops(2, dtype))
      lines.emplace_back(op + " %a, %b", t);
    for (const char* direction : {"eq", "ne", "lt", "le", "gt", "ge"}) {
      lines.emplace_back(fmt::format("compare %a, %b {{direction = {}}}", direction), b);
    }
    lines.emplace_back("select %p, %a, %b", t);
    if (is_float(dtype)) lines.emplace_back("gelu %a {approximate = tanh}", t);
    const KernelCase test(kernel_of({"%a: " + t, "%b: " + t, "%p: " + b}, lines));
    expect_agrees(test, random, fmt::format("ops {}", t), 2);
  }
}

TEST_P(CudaElementsOf, CastsToEveryDType) {
  const DType from = GetParam();
  std::mt19937_64 random(2);
  for (const Shape2& shape : shapes()) {
    std::vector<std::pair<std::string, std::string>> lines;
    for (const DType to : kAllDTypes) {
      lines.emplace_back(fmt::format("cast %a {{to = {}}}", name(to)),
                         fmt::format("tensor<{}x{}x{}>", shape.first, shape.second, name(to)));
    }
    const KernelCase test(kernel_of(
        {fmt::format("%a: tensor<{}x{}x{}>", shape.first, shape.second, name(from))}, lines));
    expect_agrees(test, random, fmt::format("casts from {}", name(from)), 1, -300, 300);
  }
}

INSTANTIATE_TEST_SUITE_P(Every, CudaElementsOf, testing::ValuesIn(kAllDTypes),
                         [](const auto& tested) { return std::string(name(tested.param)); });

TEST(CudaElements, SpecialValues) {
  if (compiler() == nullptr) GTEST_SKIP() << "needs a GPU";
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {0.0,    -0.0, 1,     -1,    inf,   -inf, std::nan(""), 1e-40,
                                      -3e-39, 3e38, -3e38, 127.5, 255.7, -129, 2.5e9,        1e19,
                                      -1e19,  88.5, -88.5, -104,  0.5,   0.3,  1e-5,         20};
  for (const char* dtype : {"f64", "f32", "bf16", "f16"}) {
    const std::string t = fmt::format("tensor<24x{}>", dtype);
    std::vector<std::pair<std::string, std::string>> lines;
    for (const char* op : {"neg", "abs", "sign", "relu", "floor", "exp", "log", "sqrt", "rsqrt",
                           "tanh", "erf", "gelu", "silu", "sigmoid"}) {
      lines.emplace_back(fmt::format("{} %a", op), t);
    }
    for (const char* op : {"add", "mul", "div", "maximum", "minimum"}) {
      lines.emplace_back(fmt::format("{} %a, %b", op), t);
    }
    for (const DType to : kAllDTypes) {
      lines.emplace_back(fmt::format("cast %a {{to = {}}}", name(to)),
                         fmt::format("tensor<24x{}>", name(to)));
    }
    const KernelCase test(kernel_of({"%a: " + t, "%b: " + t}, lines));
    const DType type = test.bound.values[0].dtype;
    std::vector<Bytes> inputs;
    for (size_t shift : {0u, 5u}) {
      Bytes bytes(24 * static_cast<size_t>(size_bytes(type)));
      for (size_t i = 0; i < 24; ++i) {
        store_double(type, bytes.data() + i * static_cast<size_t>(size_bytes(type)),
                     values[(i + shift) % 24]);
      }
      inputs.push_back(std::move(bytes));
    }
    const auto wanted = test.run(cpu::KernelSet::kReference, inputs);
    const auto got = run_on_device(test, inputs);
    const auto results = test.results();
    for (size_t r = 0; r < got.size(); ++r) {
      const DType out = test.bound.values[results[r].index].dtype;
      const auto size = static_cast<size_t>(size_bytes(out));
      for (size_t i = 0; i < 24; ++i) {
        const double g = load_double(out, got[r].data() + i * size);
        const double w = load_double(out, wanted[r].data() + i * size);
        if (g == w || (std::isnan(g) && std::isnan(w))) continue;
        EXPECT_LE(std::fabs(g - w), 4 * cpu::tolerance_of(out) * std::fabs(w) + 1e-41)
            << dtype << " " << lines[r].first << " of " << values[i] << ": " << g << " not " << w;
      }
    }
  }
}

TEST(CudaElements, SourcesKnowWhereTheyAre) {
  std::mt19937_64 random(3);
  for (const char* dtype : {"f64", "f32", "bf16", "f16"}) {
    for (int round = 0; round < (compiler() ? 8 : 1); ++round) {
      KernelCase test(fmt::format(
          R"(kernel @k(%x: tensor<13x64x{0}>) -> (%d: tensor<13x64x{0}>, %u: tensor<13x64x{0}>,
              %i: tensor<13x64x{0}>, %c: tensor<13x64xi32>) {{
  %d = dropout %x {{rate = 0.3, seed = 11, offset = 5}}
  %u = uniform {{seed = 3, lo = -1.0, hi = 2.0}} : tensor<13x64x{0}>
  %i = iota {{dim = 1}} : tensor<13x64x{0}>
  %c = iota {{dim = 0}} : tensor<13x64xi32>
  return %d, %u, %i, %c
}})",
          dtype));
      const auto lo = static_cast<int64_t>(random() % 13);
      const auto left = round % 2 == 0 ? int64_t{0} : static_cast<int64_t>(random() % 64);
      for (const char* value : {"x", "d", "u", "i", "c"}) {
        Box& box = test.at(value).box;
        box.lo = {lo, left};
        box.hi[0] = lo + static_cast<int64_t>(random() % static_cast<uint64_t>(14 - lo));
        box.hi[0] = test.at("x").box.hi[0];
      }
      expect_agrees(test, random, fmt::format("sources {} from {},{}", dtype, lo, left));
    }
  }
}

TEST(CudaElements, LargeMapsWithTailsAndUnalignedOperands) {
  if (compiler() == nullptr) GTEST_SKIP() << "needs a GPU";
  std::mt19937_64 random(4);
  for (const char* dtype : {"f32", "bf16", "i8", "f64"}) {
    for (const int64_t n : {1000003, 65536, 1048577, 31}) {
      const KernelCase test(fmt::format(
          "kernel @k(%a: tensor<{0}x{1}>, %b: tensor<{0}x{1}>) -> (%y: tensor<{0}x{1}>) {{\n"
          "  %s = add %a, %b\n  %t = mul %s, %a\n  %y = sub %t, %b\n  return %y\n}}",
          n, dtype));
      for (const bool unaligned : {false, true}) {
        expect_agrees(test, random, fmt::format("{} {} {}", dtype, n, unaligned), 2, -2, 2,
                      {.unaligned = unaligned});
        expect_agrees(test, random, fmt::format("{} {} in place", dtype, n), 2, -2, 2,
                      {.unaligned = unaligned, .in_place = 1});
      }
    }
  }
}

}  // namespace
}  // namespace hostir::cuda
