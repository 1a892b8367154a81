// Which collectives the pass `combined` joins into one call, and which it keeps apart.
#include <gtest/gtest.h>

#include "hostir/ops/record.h"
#include "tests/unit/passes/lowered_text.h"

namespace hostir {
namespace {

struct Calls {
  std::string text;  // `[all_reduce all_reduce] all_gather`: groups in brackets, in order
  Explanation explanation;
};

Calls calls_of(const std::string& text, const std::vector<std::string>& skip = {}) {
  LowerOptions options;
  options.skip = skip;
  const auto lowered = lowered_text(text, std::move(options));
  if (!lowered) return {};
  const Function& host = *lowered->program.find_function(lowered->function);
  Calls out;
  for (const InstrId id : host.region(host.body).instructions) {
    const Instruction& i = host.instr(id);
    std::string call;
    if (i.kind == OpKind::group) {
      for (const InstrId member : host.region(i.regions.front()).instructions) {
        call += (call.empty() ? "[" : " ") + std::string(record(host.instr(member).kind).mnemonic);
      }
      call += "]";
    } else if (record(i.kind).op_class == OpClass::kCommunication) {
      call = record(i.kind).mnemonic;
    }
    if (!call.empty()) out.text += (out.text.empty() ? "" : " ") + call;
  }
  for (const ExplainRecord& r : lowered->explanation) {
    if (r.pass == "combine") out.explanation.push_back(r);
  }
  return out;
}

// The gradients of `n` weights of n x n over the batch of a data-parallel step, one after another.
std::string gradients(int weights, int64_t batch, int64_t size, const std::string& machine = "") {
  const std::string b = std::to_string(batch);
  const std::string s = std::to_string(size);
  std::string text =
      machine + "mesh @m = <dp=4>\nfusion @f(%g: tensor<" + b + "x" + s + "xf32> <@m, [{dp}, {}]>";
  std::string results;
  std::string body;
  std::string last = "g";
  for (int i = 0; i < weights; ++i) {
    const std::string n = std::to_string(i);
    text += ", %x" + n + ": tensor<" + b + "x" + s + "xf32> <@m, [{dp}, {}]>, %w" + n +
            ": tensor<" + s + "x" + s + "xf32> <@m, [{}, {}]>";
    results += (i > 0 ? ", " : "") + ("tensor<" + s + "x" + s + "xf32> <@m, [{}, {}]>");
    body += "  %d" + n + " = dot_general %x" + n + ", %" + last +
            " {lhs_contracting = [0], rhs_contracting = [0]}\n";
    body += "  %g" + n + " = matmul %" + last + ", %w" + n + "\n";
    last = "g" + n;
  }
  text += ") -> (" + results + ") {\n" + body + "  return ";
  for (int i = 0; i < weights; ++i) text += (i > 0 ? ", %d" : "%d") + std::to_string(i);
  return text + "\n}\n";
}

TEST(Combine, GradientsOfOneStepAreOneCall) {
  const Calls calls = calls_of(gradients(3, 4, 8));
  EXPECT_EQ(calls.text, "[all_reduce all_reduce all_reduce]");
  ASSERT_EQ(calls.explanation.size(), 5u);
  EXPECT_EQ(calls.explanation[0].value, "d1");
  EXPECT_NE(calls.explanation[0].sentence.find("joins the call for %d0: saves one start"),
            std::string::npos)
      << calls.explanation[0].sentence;
  EXPECT_EQ(calls.explanation[1].value, "d0");
  EXPECT_EQ(calls.explanation[1].sentence, "shares its call with %d1");
  EXPECT_NE(calls.explanation[2].sentence.find("%d0, %d1"), std::string::npos);
}

// The first product waits for the joint gather, so it needs no buffer before that.
TEST(Combine, WhatMovesIsAllocatedLater) {
  const auto lowered = lowered_text(R"(mesh @m = <dp=2>
fusion @f(%x: tensor<4x8xf32> <@m, [{dp}, {}]>, %w: tensor<8x8xf32> <@m, [{dp}, {}]>,
          %v: tensor<8x8xf32> <@m, [{dp}, {}]>) -> (tensor<4x8xf32> <@m, [{dp}, {}]>) {
  %wg = reshard %w <@m, [{}, {}]>
  %h = matmul %x, %wg
  %t = tanh %h
  %vg = reshard %v <@m, [{}, {}]>
  %y = matmul %t, %vg
  return %y
})",
                                    {});
  ASSERT_TRUE(lowered);
  const Function& host = *lowered->program.find_function(lowered->function);
  std::vector<std::string> before;
  for (const InstrId id : host.region(host.body).instructions) {
    const Instruction& i = host.instr(id);
    if (i.kind == OpKind::group) break;
    if (i.kind == OpKind::alloc) before.push_back(host.value(i.results.front()).name);
  }
  EXPECT_EQ(before, (std::vector<std::string>{"wg", "vg"}));
}

TEST(Combine, CanBeLeftOut) {
  EXPECT_EQ(calls_of(gradients(3, 4, 8), {"combined"}).text, "all_reduce all_reduce all_reduce");
}

// One call moves at most 30 MiB: 2048 x 2048 floats are 16 MiB.
TEST(Combine, LargeOnesStayApart) {
  EXPECT_EQ(calls_of(gradients(2, 65536, 2048)).text, "all_reduce all_reduce");
}

// Half of these bytes would hide behind the next product; together they all come after it.
TEST(Combine, OverlapIsWorthMoreThanAStart) {
  const std::string slow = R"(machine @slow {
  flops_per_s_f32 = 1e9
  network_latency_ns = 0
}
)";
  const Calls calls = calls_of(gradients(2, 65536, 1024, slow));
  EXPECT_EQ(calls.text, "all_reduce all_reduce");
  ASSERT_EQ(calls.explanation.size(), 1u);
  EXPECT_NE(calls.explanation[0].sentence.find("not joined to the call for %d0"), std::string::npos)
      << calls.explanation[0].sentence;
}

// The second sum needs the first; the two kinds and the two groups are calls of their own.
TEST(Combine, OnlyAlikeAndIndependentOnes) {
  EXPECT_EQ(calls_of(R"(mesh @m = <a=2, b=2>
fusion @f(%x: tensor<8xf32> <@m, [{a}]>) -> (tensor<f32> <@m, []>, tensor<f32> <@m, []>) {
  %s = reduce_sum %x {dims = [0]}
  %t = tanh %s
  %y = mul %x, %t
  %u = tanh %y
  %v = reduce_sum %u {dims = [0]}
  return %s, %v
})")
                .text,
            "all_reduce all_reduce");
  EXPECT_EQ(calls_of(R"(mesh @m = <a=2, b=2>
fusion @f(%x: tensor<8xf32> <@m, [{a}]>, %y: tensor<8xf32> <@m, [{b}]>, %z: tensor<8xf32> <@m, [{a}]>)
    -> (tensor<f32> <@m, []>, tensor<f32> <@m, []>, tensor<f32> <@m, []>) {
  %s = reduce_sum %x {dims = [0]}
  %t = reduce_sum %y {dims = [0]}
  %u = reduce_max %z {dims = [0]}
  return %s, %t, %u
})")
                .text,
            "all_reduce all_reduce all_reduce");
}

// A loss in f32, a count in i32 and gradients in bf16: each is a call of its own in one group.
TEST(Combine, DtypesMayDiffer) {
  EXPECT_EQ(calls_of(R"(mesh @m = <dp=4>
fusion @f(%x: tensor<8x4xbf16> <@m, [{dp}, {}]>, %ok: tensor<8xi32> <@m, [{dp}]>)
    -> (tensor<f32> <@m, []>, tensor<i32> <@m, []>, tensor<4xbf16> <@m, [{}]>) {
  %w = cast %x {to = f32}
  %loss = reduce_sum %w {dims = [0, 1]}
  %count = reduce_sum %ok {dims = [0]}
  %g = reduce_sum %x {dims = [0]}
  return %loss, %count, %g
})")
                .text,
            "[all_reduce all_reduce all_reduce]");
}

// One query, keys and values cut over the sequence: the maximum, then the sum of the weights with
// that of the weighted values (scale_after_sum.h). Grouped queries change their shape in between.
TEST(Combine, SumsOfDecoding) {
  for (const char* heads : {"4", "2"}) {
    const std::string cache =
        "tensor<2x" + std::string(heads) + "x64x8xf32> <@m, [{}, {}, {a}, {}]>";
    EXPECT_EQ(calls_of("mesh @m = <a=4>\nfusion @f(%q: tensor<2x4x1x8xf32>, %k: " + cache +
                       ", %v: " + cache +
                       ") -> (tensor<2x4x1x8xf32> <@m, [{}, {}, {}, {}]>) {\n"
                       "  %y = scaled_dot_product_attention %q, %k, %v\n  return %y\n}")
                  .text,
              "all_reduce [all_reduce all_reduce]")
        << heads;
  }
}

TEST(Combine, GathersOfParameters) {
  EXPECT_EQ(calls_of(R"(mesh @m = <dp=4>
fusion @f(%x: tensor<8x8xf32> <@m, [{dp}, {}]>, %w: tensor<8x8xf32> <@m, [{dp}, {}]>, %b: tensor<8xf32> <@m, [{dp}]>)
    -> (tensor<8x8xf32> <@m, [{dp}, {}]>) {
  %wg = reshard %w <@m, [{}, {}]>
  %bg = reshard %b <@m, [{}]>
  %y = matmul %x, %wg
  %z = add %y, %bg
  return %z
})")
                .text,
            "[all_gather all_gather]");
}

}  // namespace
}  // namespace hostir
