// Decisions of propagation and resharding on small fusions: Shardy's cases where the rules agree,
// partial sums, uneven reshapes.
#include <gtest/gtest.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "tests/unit/passes/lowered_text.h"

namespace hostir {
namespace {

Lowered lowered(const std::string& text, LowerPhase until = LowerPhase::kLifetimes) {
  LowerOptions options;
  options.until = until;
  return lowered_text(text, std::move(options)).value_or(Lowered{});
}

std::string sharding(const Lowered& l, const std::string& value) {
  const Function& f = l.sharded.values.empty() ? *l.program.find_function(l.function) : l.sharded;
  const auto id = f.find_value(value);
  return id ? sharding_of(f.value(*id).type)->dims_to_string() : "no %" + value;
}

std::string comms(const Lowered& l) {
  std::string out;
  for (const Instruction& i : l.program.find_function(l.function)->instructions) {
    const OpRecord& op = record(i.kind);
    if (op.op_class != OpClass::kCommunication) continue;
    out += (out.empty() ? "" : " ") + std::string(op.mnemonic);
  }
  return out;
}

TEST(Propagate, ForwardsAndBackwards) {
  const Lowered l = lowered(R"(mesh @m = <a=2, b=2>
fusion @f(%p: tensor<8x8xf32> <@m, [{a}, {b}]>, %q: tensor<8x8xf32>, %r: tensor<8x16xf32>) -> (tensor<8x16xf32> <@m, [{?}, {?}]>) {
  %s = add %p, %q
  %d = matmul %s, %r
  return %d
})",
                            LowerPhase::kPropagated);
  EXPECT_EQ(sharding(l, "q"), "[{a, ?}, {b, ?}]");
  EXPECT_EQ(sharding(l, "s"), "[{a, ?}, {b, ?}]");
  EXPECT_EQ(sharding(l, "r"), "[{b, ?}, {?}]");
  EXPECT_EQ(sharding(l, "d"), "[{a, ?}, {?}], unreduced={b}");
}

TEST(Propagate, PointwiseBeforeContraction) {
  const Lowered l = lowered(R"(mesh @m = <a=2, b=2>
fusion @f(%p: tensor<8x8xf32> <@m, [{a, ?}, {?}]>, %q: tensor<8x8xf32>) -> (tensor<8x8xf32> <@m, [{?}, {a, ?}]>) {
  %d = matmul %p, %q
  %e = add %d, %d
  %g = add %e, %e
  return %g
})",
                            LowerPhase::kPropagated);
  EXPECT_EQ(sharding(l, "d"), "[{?}, {a, ?}]");
  EXPECT_EQ(sharding(l, "q"), "[{?}, {a, ?}]");
}

TEST(Propagate, ReshapeKeepsWhatBoxesAllow) {
  const auto through = [](const std::string& axes, const std::string& from, const std::string& cut,
                          const std::string& to) {
    const Lowered l =
        lowered("mesh @m = <" + axes + ">\nfusion @f(%p: tensor<" + from + "xf32> <@m, " + cut +
                    ">) -> (tensor<" + to + "xf32>) {\n  %y = reshape %p : tensor<" + to +
                    "xf32>\n  %z = neg %y\n  return %z\n}",
                LowerPhase::kSharded);
    return sharding(l, "y");
  };
  EXPECT_EQ(through("a=2, b=2", "2x4", "[{a}, {b}]", "8"), "[{a, b}]");
  EXPECT_EQ(through("a=2, b=2", "4x4", "[{a}, {}]", "16"), "[{a}]");
  EXPECT_EQ(through("a=2, b=2", "8", "[{b, a}]", "2x4"), "[{b}, {a}]");
  EXPECT_EQ(through("a=4, b=2", "8", "[{a}]", "2x4"), "[{a:(1)2}, {a:(2)2}]");
  // Eight in three parts is 3, 3, 2: no rank has whole rows of four. Between rows it is 4, 4, 0.
  EXPECT_EQ(through("a=3", "8", "[{a}]", "2x4"), "[{a}, {}]");
  EXPECT_EQ(through("a=3", "2x4", "[{a}, {}]", "8"), "[{a} of 4]");
  EXPECT_EQ(through("a=3", "8", "[{a} of 4]", "2x4"), "[{a}, {}]");
  EXPECT_EQ(through("a=3", "8x16", "[{a}, {}]", "128"), "[{a} of 16]");
  // Five rows of two in three parts are 2, 2, 1: ten elements are cut there anyway.
  EXPECT_EQ(through("a=3", "5x2", "[{a}, {}]", "10"), "[{a}]");
  EXPECT_EQ(through("a=3", "10", "[{a}]", "5x2"), "[{a}, {}]");
  EXPECT_EQ(through("a=2, b=3", "10x3", "[{a, b}, {}]", "30"), "[{a, b} of 3]");
  EXPECT_EQ(through("a=2, b=3", "30", "[{a, b} of 3]", "2x5x3"), "[{a}, {b}, {}]");
  EXPECT_EQ(through("a=3", "12x4", "[{a} of 2, {}]", "48"), "[{a}]");
  EXPECT_EQ(through("a=4", "12x4", "[{a} of 2, {}]", "48"), "[{a} of 8]");
  // Ten over four is 3, 3, 3, 1; over two and then two it is 3, 2, 3, 2.
  EXPECT_EQ(through("a=4", "10", "[{a}]", "2x5"), "[{a:(1)2}, {}]");
  EXPECT_EQ(through("a=2, b=2", "10", "[{a, b}]", "2x5"), "[{a}, {b}]");
}

TEST(Reshard, PartialSumsAreReducedOnceWhereThatSaves) {
  const std::string head = R"(mesh @m = <x=2>
fusion @f(%a: tensor<8x6xf32> <@m, [{}, {x}]>, %b: tensor<6x4xf32> <@m, [{x}, {}]>, %c: tensor<8x4xf32> <@m, [{}, {}]>) -> (tensor<8x4xf32> <@m, [{}, {}]>) {
  %p = matmul %a, %b
  %q = matmul %a, %b
)";
  EXPECT_EQ(comms(lowered(head + "  %s = add %p, %q\n  return %s\n}")), "all_reduce");
  EXPECT_EQ(
      comms(lowered(head + "  %u = neg %p\n  %v = neg %q\n  %s = add %u, %v\n  return %s\n}")),
      "all_reduce");
  // With a single partial operand the costs tie, and the operand is reduced first.
  const Lowered tie = lowered(head + "  %s = mul %p, %c\n  return %s\n}");
  EXPECT_EQ(sharding(tie, "s"), "[{}, {}]");
  // The product of two partial sums is not a partial sum.
  EXPECT_EQ(comms(lowered(head + "  %s = mul %p, %q\n  return %s\n}")), "all_reduce all_reduce");
  // A later reduction makes the value smaller, so the collective comes after it.
  const Lowered less = lowered(head.substr(0, head.find("8x4xf32> <@m, [{}, {}]>) {")) +
                               R"(8xf32> <@m, [{}]>) {
  %p = matmul %a, %b
  %s = reduce_sum %p {dims = [1]}
  return %s
})");
  EXPECT_EQ(sharding(less, "s"), "[{}], unreduced={x}");
  EXPECT_EQ(comms(less), "all_reduce");
}

TEST(Reshard, GatheredOnceForAllUses) {
  const Lowered l = lowered(R"(mesh @m = <tp=2>
fusion @f(%x: tensor<6x8xf32> <@m, [{tp}, {}]>, %wq: tensor<8x8xf32> <@m, [{tp}, {}]>, %wk: tensor<8x8xf32> <@m, [{tp}, {}]>, %wv: tensor<8x8xf32> <@m, [{tp}, {}]>)
    -> (tensor<6x8xf32> <@m, [{}, {tp}]>, tensor<6x8xf32> <@m, [{}, {tp}]>, tensor<6x8xf32> <@m, [{}, {tp}]>) {
  %q = linear %x, %wq : tensor<6x8xf32> <@m, [{}, {tp}]>
  %k = linear %x, %wk : tensor<6x8xf32> <@m, [{}, {tp}]>
  %v = linear %x, %wv : tensor<6x8xf32> <@m, [{}, {tp}]>
  return %q, %k, %v
})");
  EXPECT_EQ(comms(l), "all_gather");
}

TEST(Reshard, MeanOverACutDimension) {
  const Lowered l = lowered(R"(mesh @m = <dp=4>
fusion @f(%x: tensor<5x3xf32> <@m, [{dp}, {}]>) -> (%y: tensor<3xf32> <@m, [{}]>) {
  %y = reduce_mean %x {dims = [0]}
  return %y
})");
  EXPECT_EQ(comms(l), "all_reduce");
  EXPECT_EQ(sharding(l, "y"), "[{}]");
}

TEST(Lower, ExplainsAnAxisAndACollective) {
  const Lowered l = lowered(R"(mesh @m = <tp=2>
fusion @f(%x: tensor<4x6xf32> <@m, [{}, {tp}]>, %w: tensor<6x8xf32>) -> (%y: tensor<4x8xf32> <@m, [{}, {}]>) {
  %y = matmul %x, %w
  return %y
})");
  EXPECT_NE(to_string(about(l.explanation, "w")).find("{tp} on dimension 0: matmul at @f#1"),
            std::string::npos);
  EXPECT_NE(to_string(about(l.explanation, "y")).find("all_reduce over {tp}"), std::string::npos);
  EXPECT_NE(to_string(about(l.explanation, "y")).find("reduces a dimension that is cut in"),
            std::string::npos);
}

TEST(Lower, ExplainsWhatLost) {
  const std::string text = R"(mesh @m = <dp=2, tp=2>
fusion @f(%x: tensor<4096x4096xf32> <@m, [{dp}, {tp}]>, %w: tensor<4096x4096xf32> <@m, [{tp, dp}, {}]>) -> (%y: tensor<4096x4096xf32> <@m, [{dp}, {}]>) {
  %y = matmul %x, %w
  return %y
})";
  const auto with = lowered_text(text, {.alternatives = Alternatives::kExplained});
  const auto without = lowered_text(text);
  ASSERT_TRUE(with && without);
  EXPECT_EQ(text::print(with->program), text::print(without->program));
  std::map<std::string, int> passes;
  for (const ExplainRecord& r : with->explanation) {
    if (r.pass == "propagate" || r.pass == "combine" || r.lost.empty()) continue;
    ++passes[r.pass];
    EXPECT_LE(r.lost.size(), 3U);
    EXPECT_TRUE(std::ranges::is_sorted(r.lost, {}, &Alternative::cost_ns));
    std::set<std::string> texts = {r.what};
    for (const Alternative& a : r.lost) {
      EXPECT_TRUE(texts.insert(a.what).second) << a.what;
      EXPECT_NE(sentence(r).find("not " + a.what + ": " + a.cost), std::string::npos);
    }
  }
  EXPECT_EQ(passes["cut"], 1);
  EXPECT_GE(passes["reshard"], 1);
  EXPECT_EQ(passes["axes"], 1);
  for (const ExplainRecord& r : without->explanation) EXPECT_TRUE(r.lost.empty());
}

// The compiler's own instructions refer to those of the fusion, not to those of an expansion.
TEST(Lower, AddressesAreThoseOfTheFusion) {
  const Lowered l = lowered(R"(mesh @m = <x=2>
fusion @f(%a: tensor<8x8xf32> <@m, [{}, {x}]>) -> (%y: tensor<8x8xf32> <@m, [{}, {x}]>) {
  %y = softmax %a {dim = 1}
  return %y
})");
  for (const Instruction& i : l.program.find_function(l.function)->instructions) {
    for (const OpRef& from : i.from) EXPECT_LE(from.number, 2U);
  }
}

// A product changes the request for the keys, and so for the slices that rotary makes, but not for
// a reshape of them: such a reshape was passed on to its own operand and back until memory ran out.
TEST(Lower, ARequestThatStaysTheSameIsNotPassedOn) {
  const auto program = text::parse_program(R"(mesh @m = <dp=4, tp=1, cp=2>
fusion @block(%x: tensor<?Bx?Sx?Exf32> <@m, [{dp, cp,?}, {?}, {?}]>,
   %n1: tensor<?Exf32> <@m, [{?}]>, %n2: tensor<?Exf32> <@m, [{?}]>,
   %wq: tensor<?Ex?Exf32> <@m, [{dp,?}, {?}]>,
   %wk: tensor<(?E/2)x?Exf32> <@m, [{dp,?}, {?}]>,
   %wv: tensor<(?E/2)x?Exf32> <@m, [{dp,?}, {?}]>,
   %wo: tensor<?Ex?Exf32> <@m, [{dp,?}, {cp,?}]>,
   %wg: tensor<?Fx?Exf32> <@m, [{cp,?}, {dp,?}]>,
   %wu: tensor<?Fx?Exf32> <@m, [{cp,?}, {dp,?}]>,
   %wd: tensor<?Ex?Fxf32> <@m, [{dp,?}, {cp,?}]>)
  -> (%y: tensor<?Bx?Sx?Exf32> <@m, [{?}, {?}, {?}]>) {
  %h1 = rms_norm %x, %n1
  %q = linear %h1, %wq
  %k = linear %h1, %wk
  %v = linear %h1, %wv
  %qs = reshape %q {shape = [?B, ?S, 8, ?E / 8]}
  %ks = reshape %k {shape = [?B, ?S, 4, ?E / 8]}
  %vs = reshape %v {shape = [?B, ?S, 4, ?E / 8]}
  %qh = transpose %qs {permutation = [0, 2, 1, 3]}
  %kh = transpose %ks {permutation = [0, 2, 1, 3]}
  %vh = transpose %vs {permutation = [0, 2, 1, 3]}
  %qr = rotary %qh
  %kr = rotary %kh
  %a = scaled_dot_product_attention %qr, %kr, %vh {causal = true}
  %at = transpose %a {permutation = [0, 2, 1, 3]}
  %am = reshape %at {shape = [?B, ?S, ?E]}
  %o = linear %am, %wo
  %r = add %x, %o
  %h2 = rms_norm %r, %n2
  %g = linear %h2, %wg
  %u = linear %h2, %wu
  %gs = silu %g
  %gu = mul %gs, %u
  %d = linear %gu, %wd
  %y = add %r, %d
  return %y
}
gradient @block_grad of @block wrt(%x, %n1, %n2, %wq, %wk, %wv, %wo, %wg, %wu, %wd))");
  ASSERT_TRUE(program) << program.error().message();
  SizeBindings sizes;
  for (const auto& [name, size] : {std::pair{"B", 8}, {"S", 4096}, {"E", 4096}, {"F", 11008}})
    EXPECT_TRUE(sizes.bind(name, size));
  LowerOptions options;
  options.sizes = sizes;
  EXPECT_TRUE(lower(*program, "block_grad", options));
}

TEST(Lower, KeptValuesGetBuffers) {
  const auto program = text::parse_program(R"(fusion @f(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %h = exp %x
  %y = neg %h
  return %y
})");
  ASSERT_TRUE(program);
  LowerOptions options;
  options.keep = {"h"};
  const auto l = lower(*program, "f", options);
  ASSERT_TRUE(l) << l.error().message();
  EXPECT_TRUE(l->program.find_function("f.host")->find_value("h").has_value());
  options.keep = {"nothing"};
  EXPECT_FALSE(lower(*program, "f", options));
}

}  // namespace
}  // namespace hostir
