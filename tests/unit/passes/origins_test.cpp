// A value keeps its number from the fusion to the host function (hostir/ir/program.h: Origin).
#include <set>

#include "hostir/ir/access.h"
#include "lowered_text.h"

namespace hostir {
namespace {

// A sum over a cut dimension, a value moved for one use, a composite, an update in place.
constexpr std::string_view kProgram = R"(mesh @m = <tp=4>
fusion @f(%x: tensor<8x16xf32> <@m, [{}, {}]>, %w: tensor<16x32xf32> <@m, [{}, {tp}]>,
          %v: tensor<32x16xf32> <@m, [{tp}, {}]>, %s: tensor<8x16xf32> <@m, [{tp}, {}]>)
    -> (%p: tensor<8x16xf32> <@m, [{}, {}]>, %t: tensor<8x16xf32> <@m, [{tp}, {}]> alias(%s)) {
  %h = matmul %x, %w
  %g = gelu %h
  %y = matmul %g, %v
  %p = softmax %y {dim = 1}
  %t = add %s, %p
  return %p, %t
})";

// The value that the buffer is for has its shape and dtype.
void expect_fits(const Function& fusion, const Type& buffer, Origin origin,
                 const std::string& what) {
  if (origin.value.index >= fusion.values.size()) return;  // of what a composite is made of
  const Value& value = fusion.value(origin.value);
  EXPECT_EQ(dtype_of(buffer), dtype_of(value.type)) << what << " for %" << value.name;
  EXPECT_TRUE(shape_of(buffer) == shape_of(value.type)) << what << " for %" << value.name;
}

void expect_numbers(const Lowered& l, const std::set<std::string>& wanted) {
  const Function& fusion = *l.program.find_function("f");
  const Function& host = *l.program.find_function(l.function);
  std::set<std::string> written;
  for (size_t v = 0; v < fusion.values.size(); ++v) {
    EXPECT_EQ(fusion.values[v].origin.value, ValueId(v));
    EXPECT_EQ(l.value_names[v], fusion.values[v].name);
  }
  for (const Value& v : host.values) expect_fits(fusion, v.type, v.origin, "%" + v.name);
  for (const Instruction& i : host.instructions) {
    for (const Operand& o : i.operands) {
      if (!o.origin.valid()) continue;
      EXPECT_TRUE(writes(o.access)) << host.value(o.value).name;
      expect_fits(fusion, host.value(o.value).type, o.origin, "%" + host.value(o.value).name);
      written.insert(l.value_names[o.origin.value.index]);
    }
  }
  for (const std::string& name : wanted) EXPECT_TRUE(written.contains(name)) << name;
}

TEST(Origins, FollowValuesToTheHostFunction) {
  const auto l = lowered_text(std::string(kProgram));
  ASSERT_TRUE(l);
  expect_numbers(*l, {"g", "y", "p", "t"});
  for (const ExplainRecord& r : l->explanation) {
    if (!r.id.valid()) continue;
    EXPECT_EQ(r.value, l->value_names[r.id.value.index]) << sentence(r);
  }
}

TEST(Origins, FollowValuesThroughOverlapAndWithoutRewrites) {
  for (const Overlap overlap : {Overlap::kCollectives, Overlap::kRing}) {
    LowerOptions options;
    options.overlap = overlap;
    const auto l = lowered_text(std::string(kProgram), options);
    ASSERT_TRUE(l);
    expect_numbers(*l, {"p", "t"});
  }
  LowerOptions options;
  options.skip = {"needless_reshards", "gather_first", "scale_after_sum", "combined"};
  const auto l = lowered_text(std::string(kProgram), options);
  ASSERT_TRUE(l);
  expect_numbers(*l, {"g", "y", "p", "t"});
}

// The buffer that updates a parameter holds first the parameter, then the new value.
TEST(Origins, AreOfWritesNotOfBuffers) {
  const auto l = lowered_text(std::string(kProgram));
  ASSERT_TRUE(l);
  const Function& host = *l->program.find_function(l->function);
  const ValueId state = *host.find_value("s");
  EXPECT_EQ(l->value_names[host.value(state).origin.value.index], "s");
  std::set<std::string> held;
  for (const Instruction& i : host.instructions) {
    for (const Operand& o : i.operands) {
      if (o.value == state && o.origin.valid()) held.insert(l->value_names[o.origin.value.index]);
    }
  }
  EXPECT_EQ(held, std::set<std::string>{"t"});
}

// What a user's reshard makes is the operand where nothing moves; asked for by name, it is there.
TEST(Origins, AKeptReshardThatMovesNothingIsItsOperand) {
  LowerOptions options;
  options.keep = {"r"};
  const auto l = lowered_text(R"(mesh @m = <x=2>
fusion @f(%x: tensor<4xf32> <@m, [{x}]>) -> (%y: tensor<4xf32> <@m, [{x}]>) {
  %a = exp %x
  %r = reshard %a {to = <@m, [{x}]>}
  %y = neg %r
  return %y
})",
                              options);
  ASSERT_TRUE(l);
  expect_numbers(*l, {"a", "y"});
}

}  // namespace
}  // namespace hostir
