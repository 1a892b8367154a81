// The cache of readings stays within its budget, never copies, and requests no more than needed.
#include "gui/state/readings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

interp::ValueQuery query_of(int64_t row) {
  interp::ValueQuery query;
  query.value = "y";
  query.box = Box{{row}, {row + 1}};
  return query;
}

ReadingPtr reading_of(int64_t elements) {
  auto reading = std::make_shared<interp::ValueReading>();
  reading->tensor = Tensor::zeros(DType::kF32, {elements});
  return reading;
}

TEST(Readings, StayWithinTheirBudgetAndForgetWhatWasNotLookedAtLongest) {
  constexpr int64_t kBudget = 1 << 20;
  Readings readings(kBudget);
  const uint64_t first = readings.use(query_of(0)).key;
  readings.put(first, {}, reading_of(1000), "");
  for (int64_t row = 1; row < 2000; ++row) {
    readings.begin_frame();
    readings.use(query_of(0));  // used in every frame
    const uint64_t key = readings.use(query_of(row)).key;
    readings.put(key, {}, reading_of(1000), "");
    EXPECT_LE(readings.bytes(), kBudget + 8192);
  }
  EXPECT_GT(readings.count(), 100u);
  EXPECT_EQ(readings.use(query_of(0)).key, first);
  EXPECT_TRUE(readings.use(query_of(1999)).slot.reading);
  EXPECT_FALSE(readings.use(query_of(1)).slot.reading);
}

TEST(Readings, OfTheLastFrameStayWhateverTheyNeed) {
  Readings readings(1000);
  for (int64_t row = 0; row < 20; ++row)
    readings.put(readings.use(query_of(row)).key, {}, reading_of(1000), "");
  readings.begin_frame();
  EXPECT_EQ(readings.count(), 20u);
  readings.begin_frame();
  EXPECT_EQ(readings.count(), 0u);
  EXPECT_EQ(readings.bytes(), 0);
}

TEST(Readings, ThatAreForgottenBeforeTheirAnswerAreCalledOff) {
  Readings readings(100);
  Readings::Entry& entry = readings.use(query_of(0));
  entry.asked = true;
  const uint64_t key = entry.key;
  EXPECT_TRUE(readings.begin_frame().empty());
  EXPECT_EQ(readings.begin_frame(), std::vector<uint64_t>{key});
  readings.put(key, {}, reading_of(1), "");  // it was already running
  EXPECT_EQ(readings.count(), 0u);
}

TEST(Readings, OfBeforeTheLastMoveAreTheSameOnesNotCopies) {
  Readings readings;
  const uint64_t key = readings.use(query_of(0)).key;
  EXPECT_EQ(readings.before(query_of(0)), nullptr);
  const ReadingPtr a = reading_of(1);
  readings.put(key, {}, a, "");
  EXPECT_EQ(readings.before(query_of(0)), nullptr);
  readings.moved();
  EXPECT_EQ(readings.before(query_of(0)), a);  // nothing newer was read yet
  const ReadingPtr b = reading_of(1);
  readings.put(key, {}, b, "");
  EXPECT_EQ(readings.before(query_of(0)), a);
  readings.moved();
  readings.moved();
  EXPECT_EQ(readings.before(query_of(0)), b);
  EXPECT_EQ(readings.use(query_of(0)).slot.reading, b);
}

TEST(Readings, OfALargeTensorAreWindowsThatStayWhileTheElementMovesInThem) {
  const std::string path = testing::TempDir() + "wide_values.hir";
  std::ofstream(path) << "fusion @f(%a: tensor<4x400xf32>) -> (%y: tensor<4x400xf32>) {\n"
                         "  %y = relu %a\n  return %y\n}\n";
  Workbench w(path);
  w.only("values");
  ASSERT_TRUE(w.perform("until end"));
  w.model().selection.value = "y";
  w->wait_until_idle(10);
  ASSERT_TRUE(w.fill("values/goto", "1, 201"));
  const size_t before = w.model().readings().count();
  for (int64_t column = 202; column < 208; ++column) {
    w.model().selection.element = {1, column};
    w->wait_until_idle(10);
    EXPECT_NE(w.text("values/notes").find("shown: [0:4, 165:225]"), std::string::npos)
        << w.text("values/notes");
  }
  EXPECT_EQ(w.model().readings().count(), before);
  w.model().selection.element = {1, 300};
  w->wait_until_idle(10);
  EXPECT_GT(w.model().readings().count(), before);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace hostir::gui
