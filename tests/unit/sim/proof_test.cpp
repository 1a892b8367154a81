// The effect of reductions on parts: the algebra of `verify --against`.
#include <gtest/gtest.h>

#include "interp/sim/proof/algebra.h"

namespace hostir::sim::proof {
namespace {

class ProofTest : public testing::Test {
 protected:
  // The part [lo, hi) of a sum over 8 that makes `form`.
  StateId part(FormId form, int64_t lo, int64_t hi, Reduction kind = Reduction::kSum) {
    const CoverId cover = a.restricted(Algebra::kWhole, {a.reduction("k", 8), lo, hi});
    return a.known(form, {{form, 1, cover}}, kind);
  }
  StateId sum(const std::vector<StateId>& members) { return a.reduced(Reduction::kSum, members); }

  Algebra a;
  const FormId x = a.of_node(a.node("%x", {}, {4}));
  const FormId b = a.of_node(a.node("%b", {}, {4}));
};

TEST_F(ProofTest, PartsThatTileAreTheWhole) {
  EXPECT_EQ(sum({part(x, 0, 3), part(x, 3, 8)}), a.whole(x));
  EXPECT_EQ(sum({part(x, 5, 8), part(x, 0, 3), part(x, 3, 5)}), a.whole(x));
  EXPECT_EQ(sum({part(x, 0, 8), Algebra::kZero, Algebra::identity(Reduction::kSum)}), a.whole(x));
}

TEST_F(ProofTest, TwoStepsAreOne) {
  const StateId left = sum({part(x, 0, 2), part(x, 2, 4)});
  EXPECT_FALSE(a.is_whole(left));
  EXPECT_EQ(sum({left, part(x, 4, 8)}), a.whole(x));
}

TEST_F(ProofTest, WholeValuesAreCounted) {
  EXPECT_EQ(sum({a.whole(x), a.whole(x), a.whole(x)}), a.whole(a.scaled(x, 3)));
  EXPECT_EQ(a.reduced(Reduction::kAvg, {a.whole(x), a.whole(x)}), a.whole(x));
  EXPECT_EQ(a.reduced(Reduction::kAvg, {part(x, 0, 4), part(x, 4, 8)}), a.whole(a.scaled(x, 0.5)));
  EXPECT_EQ(a.reduced(Reduction::kMax, {a.whole(x), a.whole(x)}), a.whole(x));
  EXPECT_EQ(*a.certain_difference(a.scaled(x, 4), x), "it is 4 times %x");
  EXPECT_EQ(*a.certain_difference(x, a.scaled(x, 4)), "it is 1/4 of 4 * %x");
}

TEST_F(ProofTest, PartsThatOverlapUnevenlyAreWrong) {
  const StateId overlap = sum({part(x, 0, 5), part(x, 3, 8)});
  EXPECT_EQ(a.state(overlap).kind, State::Kind::kWrong);
  EXPECT_EQ(a.state(overlap).why,
            "a sum of %x in which some parts are counted 1 times, others 2 times");
  // A maximum may see parts twice, but this one is not followed.
  const StateId twice =
      a.reduced(Reduction::kMax, {part(x, 0, 5, Reduction::kMax), part(x, 3, 8, Reduction::kMax)});
  EXPECT_EQ(a.state(twice).kind, State::Kind::kUnknown);
  EXPECT_EQ(sum({part(x, 0, 8), part(x, 0, 8)}), a.whole(a.scaled(x, 2)));
}

TEST_F(ProofTest, MissingPartsStayPartial) {
  const StateId missing = sum({part(x, 0, 3), part(x, 5, 8)});
  EXPECT_EQ(a.state(missing).kind, State::Kind::kKnown);
  EXPECT_FALSE(a.is_whole(missing));
}

TEST_F(ProofTest, ReductionsOfAnotherKindAreWrong) {
  const StateId max_of_sum = a.reduced(Reduction::kMax, {part(x, 0, 4), part(x, 4, 8)});
  EXPECT_EQ(a.state(max_of_sum).kind, State::Kind::kWrong);
  const StateId zeros = a.reduced(Reduction::kMax, {a.whole(x), Algebra::kZero});
  EXPECT_EQ(a.state(zeros).kind, State::Kind::kUnknown);
}

// One rank contributes zeros, the others the neutral element.
TEST_F(ProofTest, AReductionOfZerosIsZero) {
  for (const Reduction kind : {Reduction::kSum, Reduction::kMin, Reduction::kProd})
    EXPECT_EQ(a.reduced(kind, {Algebra::kZero, Algebra::identity(kind)}), Algebra::kZero);
  EXPECT_EQ(a.whole(Algebra::kZeroForm), Algebra::kZero);
}

// A bias that each rank adds before the reduction is counted on each rank.
TEST_F(ProofTest, AddendsAreCountedOneByOne) {
  const FormId y = a.sum(x, b);
  const auto with_bias = [&](int64_t lo, int64_t hi, double share) {
    const CoverId cover = a.restricted(Algebra::kWhole, {a.reduction("k", 8), lo, hi});
    const FormId bias = a.scaled(b, share);
    return a.known(a.sum(x, bias), {{x, 1, cover}, {bias, 1, Algebra::kWhole}}, Reduction::kSum);
  };
  const StateId each = sum({with_bias(0, 4, 1), with_bias(4, 8, 1)});
  EXPECT_EQ(each, a.whole(a.sum(x, b, 2)));
  EXPECT_EQ(*a.certain_difference(a.sum(x, b, 2), y),
            "%b is counted twice but should be counted once");
  EXPECT_EQ(sum({with_bias(0, 4, 0.5), with_bias(4, 8, 0.5)}), a.whole(y));
  EXPECT_EQ(sum({with_bias(0, 4, 1), part(x, 4, 8)}), a.whole(y));
  EXPECT_EQ(*a.certain_difference(x, y), "%b is missing");
  EXPECT_FALSE(a.certain_difference(a.sum(x, a.of_node(a.node("%c", {}, {4}))), y));
}

}  // namespace
}  // namespace hostir::sim::proof
