// Which collectives the pass `overlapped` cuts into chunks, how `auto` decides, and how it explains
// that.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include "hostir/ops/record.h"
#include "tests/unit/passes/lowered_text.h"

namespace hostir {
namespace {

struct Overlapped {
  std::string calls;  // the communication instructions in order, `permute x 3` if repeated
  int64_t launches = 0;
  std::string sentences;  // of the pass, one per line
};

Overlapped overlapped(const std::string& text, Overlap overlap,
                      const std::vector<std::string>& skip = {}) {
  LowerOptions options;
  options.overlap = overlap;
  options.skip = skip;
  const auto lowered = lowered_text(text, std::move(options));
  if (!lowered) return {};
  Overlapped out;
  std::string last;
  int64_t times = 0;
  const auto flush = [&] {
    if (times == 0) return;
    out.calls += (out.calls.empty() ? "" : ", ") + last;
    if (times > 1) out.calls += " x " + std::to_string(times);
  };
  const Function& host = *lowered->program.find_function(lowered->function);
  for (const InstrId id : host.preorder()) {
    const Instruction& i = host.instr(id);
    if (i.kind == OpKind::launch) ++out.launches;
    if (record(i.kind).op_class != OpClass::kCommunication) continue;
    if (record(i.kind).mnemonic != last) {
      flush();
      times = 0;
      last = record(i.kind).mnemonic;
    }
    ++times;
  }
  flush();
  for (const ExplainRecord& r : lowered->explanation) {
    if (r.pass == "overlap") out.sentences += "%" + r.value + ": " + r.sentence + "\n";
  }
  return out;
}

// An MLP with sequence parallelism over four ranks.
std::string mlp(int64_t tokens, int64_t hidden, int64_t features) {
  const std::string s = std::to_string(tokens);
  const std::string h = std::to_string(hidden);
  const std::string f = std::to_string(features);
  return "mesh @m = <tp=4>\nfusion @mlp(%x: tensor<" + s + "x" + h +
         "xbf16> <@m, [{tp}, {}]>, %w1: tensor<" + h + "x" + f +
         "xbf16> <@m, [{}, {tp}]>, %w2: tensor<" + f + "x" + h +
         "xbf16> <@m, [{tp}, {}]>) -> (%y: tensor<" + s + "x" + h +
         "xbf16> <@m, [{tp}, {}]>) {\n  %p = matmul %x, %w1 : tensor<" + s + "x" + f +
         "xbf16> <@m, [{}, {tp}]>\n  %g = gelu %p {approximate = tanh}\n  %y = matmul %g, %w2\n"
         "  return %y\n}\n";
}

// For each collective, how many matrix products are issued before it: `0 1 2`.
std::string products_before(const std::string& text, Overlap overlap) {
  LowerOptions options;
  options.overlap = overlap;
  const auto lowered = lowered_text(text, std::move(options));
  if (!lowered) return {};
  std::string out;
  int products = 0;
  const Function& host = *lowered->program.find_function(lowered->function);
  for (const InstrId id : host.preorder()) {
    const Instruction& i = host.instr(id);
    if (i.kind == OpKind::launch) {
      products += i.attributes.get<Symbol>("kernel")->name.starts_with("matmul") ? 1 : 0;
    } else if (record(i.kind).op_class == OpClass::kCommunication) {
      out += (out.empty() ? "" : " ") + std::to_string(products);
    }
  }
  return out;
}

// Layers with stacked weights that are cut over the data-parallel axis, as FSDP does.
std::string fsdp(int64_t tokens, int64_t hidden) {
  const std::string n = std::to_string(tokens);
  const std::string h = std::to_string(hidden);
  return "mesh @m = <dp=4>\nfusion @layers(%x: tensor<" + n + "x" + h +
         "xbf16> <@m, [{dp}, {}]>, %w: tensor<5x" + h + "x" + h +
         "xbf16> <@m, [{}, {dp}, {}]>) -> (%y: tensor<" + n + "x" + h +
         "xbf16> <@m, [{dp}, {}]>) {\n  %y = for %i in 0..5 carry(%p = %x) {\n"
         "    %wi = at %w[%i]\n    %q = matmul %p, %wi\n    %r = gelu %q\n    yield %r\n  }\n"
         "  return %y\n}\n";
}

TEST(Overlap, ParametersAreGatheredOneLayerAhead) {
  const std::string text = fsdp(65536, 8192);
  EXPECT_EQ(products_before(text, Overlap::kNone), "0 0 2 3 4");  // two joined
  EXPECT_EQ(products_before(text, Overlap::kAuto), "0 0 1 2 3");
  const std::string why = overlapped(text, Overlap::kAuto).sentences;
  EXPECT_NE(why.find("collectives of parameters one step ahead"), std::string::npos) << why;
}

TEST(Overlap, NoneIsTheDefault) {
  const Overlapped o = overlapped(mlp(64, 16, 32), LowerOptions().overlap);
  EXPECT_EQ(o.calls, "all_gather, reduce_scatter");
  EXPECT_EQ(o.sentences, "");
}

TEST(Overlap, CanBeSkipped) {
  const Overlapped o = overlapped(mlp(64, 16, 32), Overlap::kRing, {"overlapped"});
  EXPECT_EQ(o.calls, "all_gather, reduce_scatter");
}

TEST(Overlap, RingOfFour) {
  const Overlapped o = overlapped(mlp(64, 16, 32), Overlap::kRing);
  EXPECT_EQ(o.calls, "permute x 6");
  EXPECT_EQ(o.launches, 4 + 4 + 3);  // products, and the sums of the second ring
}

// A ring passes each block on. The rolls of one value by several whole blocks share no exchange of
// borders: that would join all blocks again.
TEST(Overlap, RingOfAttentionJoinsNoBlocks) {
  LowerOptions options;
  options.overlap = Overlap::kRing;
  const std::string type = "tensor<1x8x32x4xf32> <@m, [{}, {}, {cp}, {}]>";
  const auto lowered = lowered_text("mesh @m = <cp=8>\nfusion @f(%q: " + type + ", %k: " + type +
                                        ", %v: " + type + ") -> (%y: " + type +
                                        ") {\n  %y = scaled_dot_product_attention %q, %k, %v\n"
                                        "  return %y\n}",
                                    std::move(options));
  ASSERT_TRUE(lowered);
  EXPECT_TRUE(lowered->has_rings);
  for (const InstrId id : lowered->sharded.preorder())
    EXPECT_NE(lowered->sharded.instr(id).kind, OpKind::concat);
}

TEST(Overlap, AutoLeavesSmallProductsAsTheyAre) {
  const Overlapped o = overlapped(mlp(64, 16, 32), Overlap::kAuto);
  EXPECT_EQ(o.calls, "all_gather, reduce_scatter");
  EXPECT_NE(o.sentences.find("not overlapped; the function is expected to take: as it is"),
            std::string::npos)
      << o.sentences;
}

TEST(Overlap, AutoOverlapsLargeProducts) {
  const Overlapped o = overlapped(mlp(8192, 8192, 32768), Overlap::kAuto);
  EXPECT_EQ(o.calls.find("all_gather"), std::string::npos) << o.calls;
  EXPECT_EQ(o.calls.find("reduce_scatter"), std::string::npos) << o.calls;
}

// Each site has a sentence about its value, with the times of all ways, whichever is asked for.
TEST(Overlap, ExplainsEverySite) {
  const Overlapped o = overlapped(R"(mesh @m = <tp=4>
fusion @f(%x: tensor<16x8xf32> <@m, [{tp}, {}]>, %v: tensor<16x8xf32> <@m, [{tp}, {}]>,
          %w: tensor<8x8xf32> <@m, [{}, {tp}]>, %u: tensor<8x8xf32> <@m, [{tp}, {}]>)
    -> (%y: tensor<16x8xf32> <@m, [{tp}, {}]>) {
  %p = matmul %x, %w : tensor<16x8xf32> <@m, [{}, {tp}]>
  %q = matmul %v, %w : tensor<16x8xf32> <@m, [{}, {tp}]>
  %s = mul %p, %q
  %y = matmul %s, %u
  return %y
}
)",
                                  Overlap::kCollectives);
  std::map<std::string, std::string> by_value;
  std::istringstream lines(o.sentences);
  for (std::string line; std::getline(lines, line);) {
    by_value[line.substr(0, line.find(':'))] += line;
  }
  ASSERT_EQ(by_value.size(), 3u) << o.sentences;
  for (const char* value : {"%x", "%v", "%y"}) {
    const std::string& line = by_value[value];
    for (const char* part : {"as it is ", ", ring of 4 ", ", collectives in 4 chunks "}) {
      EXPECT_NE(line.find(part), std::string::npos) << value << ": " << o.sentences;
    }
    EXPECT_TRUE(line.starts_with(std::string(value) + ": collectives in ")) << line;
  }
}

// If communication is free, there is nothing to hide.
TEST(Overlap, AutoKnowsTheMachine) {
  std::string machine = "machine @free {\n  launch_ns = 1000000\n}\n";
  const Overlapped o = overlapped(machine + mlp(8192, 8192, 32768), Overlap::kAuto);
  EXPECT_EQ(o.calls, "all_gather, reduce_scatter") << o.sentences;
}

TEST(Overlap, SaysWhyNot) {
  // The softmax over the tokens needs all of them.
  const Overlapped mixed = overlapped(
      R"(mesh @m = <tp=4>
fusion @f(%x: tensor<16x8xf32> <@m, [{tp}, {}]>, %w: tensor<8x8xf32> <@m, [{}, {tp}]>,
          %v: tensor<16x16xf32> <@m, [{}, {}]>) -> (%y: tensor<16x8xf32> <@m, [{}, {tp}]>) {
  %all = reshard %x {to = <@m, [{}, {}]>}
  %p = matmul %v, %all
  %y = matmul %p, %w
  return %y
}
)",
      Overlap::kCollectives);
  EXPECT_EQ(mixed.calls, "all_gather");
  EXPECT_NE(mixed.sentences.find("cannot be computed row by row: matmul adds up the rows"),
            std::string::npos)
      << mixed.sentences;

  const Overlapped returned = overlapped(
      R"(mesh @m = <tp=4>
fusion @f(%x: tensor<16x8xf32> <@m, [{tp}, {}]>) -> (%y: tensor<16x8xf32> <@m, [{}, {}]>) {
  %y = reshard %x {to = <@m, [{}, {}]>}
  return %y
}
)",
      Overlap::kRing);
  EXPECT_EQ(returned.calls, "all_gather");
  EXPECT_NE(returned.sentences.find("return uses %y, too"), std::string::npos)
      << returned.sentences;

  const Overlapped numbered = overlapped(
      R"(mesh @m = <tp=4>
fusion @f(%x: tensor<16x8xf32> <@m, [{tp}, {}]>, %w: tensor<8x8xf32> <@m, [{}, {tp}]>)
    -> (%y: tensor<16x8xf32> <@m, [{}, {tp}]>) {
  %all = reshard %x {to = <@m, [{}, {}]>}
  %p = matmul %all, %w
  %r = uniform {seed = 7} : tensor<16x8xf32> <@m, [{}, {tp}]>
  %y = mul %p, %r
  return %y
}
)",
      Overlap::kRing);
  EXPECT_EQ(numbered.calls, "all_gather") << numbered.sentences;
  EXPECT_NE(numbered.sentences.find("uniform numbers them"), std::string::npos)
      << numbered.sentences;
}

}  // namespace
}  // namespace hostir
