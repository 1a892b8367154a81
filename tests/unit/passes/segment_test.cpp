// Which ops become one kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/unit/passes/lowered_text.h"

namespace hostir {
namespace {

/// The kernels that the lowered main function launches, in order, once per launch.
std::vector<std::string> launched(const std::string& text) {
  std::vector<std::string> kernels;
  const auto lowered = lowered_text(text);
  if (!lowered) return kernels;
  const Function& host = *lowered->program.find_function(lowered->function);
  for (const InstrId id : host.preorder()) {
    const auto* kernel = host.instr(id).attributes.get<Symbol>("kernel");
    if (kernel != nullptr) kernels.push_back(kernel->name);
  }
  return kernels;
}

constexpr const char* kCutByHeads = R"(mesh @m = <x=2>
fusion @f(%q: tensor<2x4x6x8xf32> <@m, [{}, {x}, {}, {}]>, %k: tensor<2x4x6x8xf32> <@m, [{}, {x}, {}, {}]>,
          %v: tensor<2x4x6x8xf32> <@m, [{}, {x}, {}, {}]>) -> (%y: tensor<2x4x6x8xf32> <@m, [{}, {x}, {}, {}]>) {
  %y = scaled_dot_product_attention %q, %k, %v {causal = true}
  return %y
}
)";

TEST(Segment, AttentionIsOneKernelThatIsNamedAfterIt) {
  EXPECT_EQ(launched(kCutByHeads), std::vector<std::string>{"scaled_dot_product_attention"});
}

// The products write the heads beside each other, and attention reads them in its own order.
TEST(Segment, AttentionReadsTransposedOperandsInPlace) {
  const std::string projected = R"(mesh @m = <x=2>
fusion @f(%a: tensor<2x6x8xf32>, %w: tensor<4x8x8xf32> <@m, [{x}, {}, {}]>)
    -> (%y: tensor<2x4x6x8xf32> <@m, [{}, {x}, {}, {}]>{}) {
  %q = einsum %a, %w {subscripts = "bse,hde->bhsd"}
  %y = scaled_dot_product_attention %q, %q, %q {causal = true}
  return %y{}
}
)";
  const auto with = [&](const std::string& result, const std::string& value) {
    std::string text = projected;
    text.replace(text.find("{}) {"), 2, result);
    text.replace(text.rfind("{}"), 2, value);
    return launched(text);
  };
  const std::vector<std::string> two = {"dot_general", "scaled_dot_product_attention"};
  EXPECT_EQ(with("", ""), two);
  const std::vector<std::string> three = {"dot_general", "transpose",
                                          "scaled_dot_product_attention"};
  EXPECT_EQ(with(", %q: tensor<2x4x6x8xf32> <@m, [{}, {x}, {}, {}]>", ", %q"), three);
}

TEST(Segment, AttentionOverCutKeysCommunicatesBetweenItsKernels) {
  const auto kernels = launched(R"(mesh @m = <x=2>
fusion @f(%q: tensor<2x6x8xf32>, %k: tensor<2x64x8xf32> <@m, [{}, {x}, {}]>,
          %v: tensor<2x64x8xf32> <@m, [{}, {x}, {}]>) -> (%y: tensor<2x6x8xf32>) {
  %y = scaled_dot_product_attention %q, %k, %v
  return %y
})");
  EXPECT_GT(kernels.size(), 1u);
  EXPECT_EQ(std::count(kernels.begin(), kernels.end(), "scaled_dot_product_attention"), 0);
}

TEST(Segment, SeveralProductsWithoutAReductionBetweenThemStayApart) {
  const auto kernels = launched(R"(mesh @m = <x=1>
fusion @f(%a: tensor<4x6xf32>, %b: tensor<6x8xf32>, %c: tensor<8x2xf32>) -> (%y: tensor<4x2xf32>) {
  %y = einsum %a, %b, %c {subscripts = "ij,jk,kl->il"}
  return %y
})");
  EXPECT_EQ(kernels.size(), 2u);
}

}  // namespace
}  // namespace hostir
