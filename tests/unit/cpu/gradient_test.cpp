// Every op's gradient against finite differences, on the example in its record, in f64.
#include <cmath>

#include "hostir/ops/differentiate.h"
#include "hostir/ops/expand_composites.h"
#include "hostir/ops/unroll_loops.h"
#include "kernel_case.h"

namespace hostir::cpu {
namespace {

using Doubles = std::vector<double>;

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Runs a fusion without shardings on one rank with the plain loops.
class Runner {
 public:
  explicit Runner(const Function& fusion) {
    auto unrolled = unroll_loops(fusion);
    if (!unrolled) {
      ADD_FAILURE() << unrolled.error().message();
      return;
    }
    auto simple = expand_composites(std::move(unrolled->function), Origins::kNone);
    if (!simple) {
      ADD_FAILURE() << simple.error().message();
      return;
    }
    function_ = std::move(*simple);
    function_.kind = FunctionKind::kKernel;
    bound_.function = kernels::borrowed(function_);
    for (const Value& value : function_.values) {
      Placement p;
      p.dtype = dtype_of(value.type);
      p.global = constant_extents(shape_of(value.type)).value();
      p.box = Box::whole(p.global);
      bound_.values.push_back(std::move(p));
    }
    auto compiled = compile(bound_, KernelSet::kReference);
    if (!compiled) {
      ADD_FAILURE() << compiled.error().message();
      return;
    }
    kernel_ = std::move(*compiled);
  }

  const Placement& param(size_t i) const { return bound_.values[function_.params[i].value.index]; }
  /// True if something on the way is only f32.
  bool rounds() const {
    return std::any_of(bound_.values.begin(), bound_.values.end(), [](const Placement& p) {
      return is_float(p.dtype) && p.dtype != DType::kF64;
    });
  }
  size_t params() const { return function_.params.size(); }
  size_t results() const { return function_.results.size(); }

  std::vector<Doubles> run(const std::vector<Doubles>& inputs) const {
    std::vector<Bytes> in;
    std::vector<ConstMemory> from;
    for (size_t i = 0; i < params(); ++i) {
      Bytes& bytes = in.emplace_back(static_cast<size_t>(param(i).local_bytes()));
      for (size_t e = 0; e < inputs[i].size(); ++e) {
        store_double(param(i).dtype, bytes.data() + e * element(param(i)), inputs[i][e]);
      }
    }
    for (const Bytes& bytes : in)
      from.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
    const Instruction& ret = function_.instr(function_.region(function_.body).instructions.back());
    std::vector<Bytes> out;
    for (const Operand& o : ret.operands) {
      out.emplace_back(static_cast<size_t>(bound_.values[o.value.index].local_bytes()));
    }
    std::vector<Memory> to;
    for (Bytes& bytes : out) to.push_back({bytes.data(), static_cast<int64_t>(bytes.size())});
    kernel_->run(from, to);
    std::vector<Doubles> values;
    for (size_t r = 0; r < out.size(); ++r) {
      const Placement& p = bound_.values[ret.operands[r].value.index];
      Doubles& v = values.emplace_back();
      for (int64_t e = 0; e < p.box.volume(); ++e) {
        v.push_back(load_double(p.dtype, out[r].data() + static_cast<size_t>(e) * element(p)));
      }
    }
    return values;
  }

 private:
  static size_t element(const Placement& p) { return static_cast<size_t>(size_bytes(p.dtype)); }

  Function function_;
  BoundKernel bound_;
  std::unique_ptr<CompiledKernel> kernel_;
};

double dot(const Doubles& a, const Doubles& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Random floats; integers are small indices.
Doubles random_values(const Placement& p, std::mt19937_64& random, double lo, double hi) {
  std::uniform_real_distribution<double> draw(lo, hi);
  Doubles out;
  for (int64_t e = 0; e < p.box.volume(); ++e) {
    out.push_back(is_float(p.dtype) ? draw(random) : static_cast<double>(random() % 2));
  }
  return out;
}

// False, without a comparison, if the fusion gives NaN there.
bool compare_with_differences(const Function& fusion, double lo, double hi) {
  const auto derived = differentiate(Program(), fusion, "g");
  if (!derived) {
    ADD_FAILURE() << derived.error().message();
    return true;
  }
  const Runner forward(fusion);
  const Runner backward(*derived);
  std::mt19937_64 random(7);
  std::vector<Doubles> inputs;
  for (size_t i = 0; i < backward.params(); ++i) {
    inputs.push_back(random_values(backward.param(i), random, lo, hi));
  }
  const std::vector<Doubles> seeds(inputs.begin() + static_cast<std::ptrdiff_t>(forward.params()),
                                   inputs.end());
  const std::vector<Doubles> result_of_all =
      forward.run({inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(forward.params())});
  const auto is_defined = [](const Doubles& y) {
    return std::none_of(y.begin(), y.end(), [](double v) { return std::isnan(v); });
  };
  // Outside of where the op is defined there is no derivative.
  if (!std::all_of(result_of_all.begin(), result_of_all.end(), is_defined)) return false;
  const auto loss = [&](const std::vector<Doubles>& at) {
    const std::vector<Doubles> y = forward.run(at);
    if (seeds.empty()) return y.front().front();
    double sum = 0;
    size_t next = 0;
    for (size_t r = 0; r < y.size(); ++r) {
      if (is_float(dtype_of(fusion.results[r].type))) sum += dot(y[r], seeds[next++]);
    }
    return sum;
  };
  const std::vector<Doubles> got = backward.run(inputs);
  size_t result = forward.results();
  for (size_t i = 0; i < forward.params(); ++i) {
    if (!is_float(forward.param(i).dtype)) continue;
    const Doubles direction = random_values(forward.param(i), random, -1, 1);
    constexpr double kStep = 1e-5;
    std::vector<Doubles> moved(inputs.begin(),
                               inputs.begin() + static_cast<std::ptrdiff_t>(forward.params()));
    const auto at = [&](double step) {
      std::vector<Doubles> there = moved;
      for (size_t e = 0; e < direction.size(); ++e) there[i][e] += step * direction[e];
      return loss(there);
    };
    const double difference = (at(kStep) - at(-kStep)) / (2 * kStep);
    const double derivative = dot(got[result++], direction);
    // Examples that round to f32 on the way are only as precise as f32 differences.
    const double tolerance = 2e-2 * std::max(1.0, std::abs(difference));
    const double exact = 1e-6 * std::max(1.0, std::abs(difference));
    EXPECT_NEAR(derivative, difference, forward.rounds() ? tolerance : exact)
        << "parameter %" << fusion.value(fusion.params[i].value).name << " in " << lo << ".." << hi;
  }
  return true;
}

TEST(Gradient, OfEveryOpIsItsFiniteDifference) {
  size_t checked = 0;
  for (size_t kind = 0; kind < kOpCount; ++kind) {
    const OpRecord& op = record(static_cast<OpKind>(kind));
    const bool layout = op.shape == OpShape::kLayout || op.shape == OpShape::kSource;
    if (op.op_class != OpClass::kCompute || layout || op.gradient.starts_with("none")) continue;
    if (op.mnemonic == "apply") continue;  // the user writes kernel and gradient
    SCOPED_TRACE(op.mnemonic);
    std::string text = replaced(std::string(op.example), "bf16", "BF");
    text = replaced(replaced(text, "f32", "f64"), "BF", "f32");
    const auto parsed = text::parse_program(text);
    ASSERT_TRUE(parsed) << parsed.error().message() << "\n" << text;
    EXPECT_TRUE(compare_with_differences(parsed->functions.front(), 0.3, 1.7));
    (void)compare_with_differences(parsed->functions.front(), -1.7, 1.3);
    ++checked;
  }
  EXPECT_GT(checked, 50U);
}

// Loops: bodies, and how their gradients keep values.
constexpr std::string_view kLoops[] = {
    // Stacked weights, a bias that all passes use, a stacked result.
    R"(fusion @f(%x: tensor<2x3xf64>, %ws: tensor<4x3x3xf64>, %b: tensor<3xf64>)
    -> (%y: tensor<2x3xf64>, %all: tensor<4x2x3xf64>) {
  %y, %all = for %i in 0..4 carry(%h = %x) {
    %w = at %ws[%i]
    %a = matmul %h, %w
    %s = add %a, %b
    %t = tanh %s
    yield %t, %a
  }
  return %y, %all
})",
    // Two carried values, a part of the stack, the element before it, downwards.
    R"(fusion @f(%x: tensor<3xf64>, %ws: tensor<6x3xf64>) -> (%y: tensor<3xf64>, %z: tensor<3xf64>) {
  %y, %z = for %i in 1..5 carry(%p = %x, %q = %x) reversed {
    %w = at %ws[%i]
    %v = at %ws[%i - 1]
    %r = mul %p, %w
    %s = mul %q, %v
    %u = sin %r
    %t = add %u, %s
    yield %t, %r
  }
  return %y, %z
})",
    // A loop in a loop; the inner one's element of the stack has two indices.
    R"(fusion @f(%x: tensor<2xf64>, %ws: tensor<2x3x2xf64>) -> (%y: tensor<2xf64>) {
  %y = for %i in 0..2 carry(%p = %x) {
    %q = tanh %p
    %r = for %j in 0..3 carry(%k = %q) {
      %w = at %ws[%i, %j]
      %m = mul %k, %w
      %n = sin %m
      %o = add %n, %q
      yield %o
    }
    %s = mul %r, %p
    yield %s
  }
  return %y
})",
    // Ends by its data, which finite differences do not change.
    R"(fusion @f(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (%y: tensor<3xf64>) {
  %y = for %i in 0..9 carry(%p = %x) {
    %sum = reduce_sum %p {dims = [0]}
    %more = compare %sum, 5.5 {direction = lt}
    %q = mul %p, %p
    %r = add %q, %w
    yield %r while %more
  }
  return %y
})",
    // No pass.
    R"(fusion @f(%x: tensor<3xf64>, %ws: tensor<2x3xf64>) -> (%y: tensor<3xf64>) {
  %y = for %i in 1..1 carry(%p = %x) {
    %w = at %ws[%i]
    %q = mul %p, %w
    yield %q
  }
  return %y
})",
};

TEST(Gradient, OfLoopsIsTheirFiniteDifference) {
  for (const std::string_view loop : kLoops) {
    // What a gradient keeps changes no number.
    for (const std::string_view mark : {"", " recompute"}) {
      std::string text(loop);
      if (!mark.empty()) text = replaced(std::move(text), ") {\n    %", ") recompute {\n    %");
      if (!mark.empty()) text = replaced(std::move(text), "reversed {", "reversed recompute {");
      SCOPED_TRACE(text);
      const auto parsed = text::parse_program(text);
      ASSERT_TRUE(parsed) << parsed.error().message();
      EXPECT_TRUE(compare_with_differences(parsed->functions.front(), 0.3, 1.3));
    }
  }
}

TEST(Gradient, OfMarkedValuesIsTheSame) {
  const std::string text =
      R"(fusion @f(%x: tensor<3xf64>, %w: tensor<3xf64>) -> (%y: tensor<3xf64>) {
  %a = mul %x, %w
  %b = sin %a {recompute = true}
  %c = tanh %b {recompute = true}
  %d = mul %c, %b
  %y = mul %d, %d
  return %y
})";
  const auto marked = text::parse_program(text);
  ASSERT_TRUE(marked) << marked.error().message();
  const auto plain = text::parse_program(replaced(text, " {recompute = true}", ""));
  ASSERT_TRUE(plain) << plain.error().message();
  EXPECT_TRUE(compare_with_differences(marked->functions.front(), 0.3, 1.3));
  // %b and %c are computed a second time.
  const auto with = differentiate(*marked, marked->functions.front(), "g");
  const auto without = differentiate(*plain, plain->functions.front(), "g");
  ASSERT_TRUE(with && without);
  EXPECT_EQ(with->instructions.size(), without->instructions.size() + 2);
}

}  // namespace
}  // namespace hostir::cpu
