// Work that a frame must not repeat: counted, not timed.
#include <gtest/gtest.h>

#include "gui/panels/layout/layout_geometry.h"
#include "gui/panels/layout/written.h"
#include "gui/panels/program/inline_values.h"
#include "gui/panels/timeline/timeline_find.h"
#include "gui/panels/waits/rank_text.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

TEST(Work, TensorsAreLookedForOncePerSnapshot) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until collective"));
  w.only("values");
  const int64_t searches = w.model().tensors().searches();
  for (int i = 0; i < 50; ++i) w->step();
  EXPECT_EQ(w.model().tensors().searches(), searches);
  const std::string name = w.model().selection.value;
  EXPECT_EQ(w.model().tensor(name).by_rank, find_tensor(w.shot(), name).by_rank);
  ASSERT_TRUE(w.perform("step"));
  EXPECT_GT(w.model().tensors().searches(), searches);
  EXPECT_EQ(w.model().tensor(name).by_rank, find_tensor(w.shot(), name).by_rank);
}

TEST(Work, AnInlineValueIsSummedUpOncePerReading) {
  Workbench w(kMlp);
  ASSERT_TRUE(w.perform("until end"));
  Frame frame{w->app().ui(), w.model(), w->app().actions()};
  InlineValues values;
  const auto texts = [&] {
    std::string out;
    const auto count = w.shot().program->code->instructions.size();
    for (interp::CodeIndex code = 0; code < count; ++code) out += values.text(frame, code) + "\n";
    return out;
  };
  texts();
  w->wait_until_idle(10);
  const std::string known = texts();
  const int64_t summaries = values.summaries();
  EXPECT_GT(summaries, 0);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(texts(), known);
  EXPECT_EQ(values.summaries(), summaries);
}

TEST(Work, TheTimelineSearchesWhenTheTextOrTheProgramChanges) {
  TimelineNames names;
  names.texts = {"launch @a", "all_reduce sum %c", "launch @b"};
  names.names = {"a", "all_reduce", "b"};
  TimelineFind find;
  for (int frame = 0; frame < 10; ++frame) find.search("launch", names, 1);
  EXPECT_EQ(find.found(), (std::vector<interp::CodeIndex>{0, 2}));
  EXPECT_EQ(find.searches(), 1);
  find.search("reduce", names, 1);
  EXPECT_EQ(find.found(), std::vector<interp::CodeIndex>{1});
  names.texts.pop_back();
  names.names.pop_back();
  find.search("launch", names, 2);
  find.search("launch", names, 2);
  EXPECT_EQ(find.found(), std::vector<interp::CodeIndex>{0});
  EXPECT_EQ(find.searches(), 3);
  find.search("", names, 2);
  EXPECT_TRUE(find.found().empty());
}

TEST(Work, TheWaitsOfARankAreAllOfItsOwn) {
  interp::WaitsSnapshot waits;
  for (const auto& [from, to] : {std::pair(0, 2), {0, 3}, {2, 0}, {2, 2}, {2, 5}, {7, 1}}) {
    waits.edges.emplace_back();
    waits.edges.back().from = from;
    waits.edges.back().to = to;
  }
  for (interp::Rank rank = 0; rank < 9; ++rank) {
    std::vector<interp::Rank> wanted;
    for (const interp::RankWait& e : waits.edges) {
      if (e.from == rank) wanted.push_back(e.to);
    }
    std::vector<interp::Rank> found;
    for (const interp::RankWait& e : waits_of(waits, rank)) found.push_back(e.to);
    EXPECT_EQ(found, wanted) << rank;
  }
}

// Three ranks hold [6, 4]: two the upper rows, one the lower.
struct HeldWork {
  std::vector<interp::AllocationSnapshot> allocations{3};
  TensorView tensor;

  explicit HeldWork(bool partial) {
    const std::vector<Box> boxes = {{{0, 0}, {4, 4}}, {{0, 0}, {4, 4}}, {{4, 0}, {6, 4}}};
    TensorType type;
    type.sharding = Sharding::replicated("m", 2);
    if (partial) type.sharding->unreduced = {AxisRef{"x", 1, 0}};
    for (size_t r = 0; r < 3; ++r) {
      allocations[r].placement = {DType::kF32, {6, 4}, boxes[r], {}};
      allocations[r].type = type;
      tensor.by_rank.push_back(&allocations[r]);
    }
    tensor.first = tensor.by_rank.front();
  }
};

// The reference, element by element: one rank that has written the element is enough; for a partial
// tensor all addends must be written.
bool is_written(const HeldWork& held, const WrittenRanks& ranks,
                const std::vector<int64_t>& element, bool partial) {
  const auto in = [&](const std::vector<interp::Rank>& those) {
    return std::any_of(those.begin(), those.end(), [&](interp::Rank r) {
      return held.allocations[static_cast<size_t>(r)].placement.box.holds(element);
    });
  };
  return partial ? !in(ranks.never) && !in(ranks.in_flight) : in(ranks.yes);
}

TEST(Work, WhatIsWrittenIsMarkedForAWholeWindowAtOnce) {
  const std::vector<WrittenRanks> cases = {
      {{0}, {1}, {2}}, {{2}, {}, {0, 1}}, {{0, 1, 2}, {}, {}}, {{}, {1}, {0, 2}}};
  for (const bool partial : {false, true}) {
    const HeldWork held(partial);
    for (const WrittenRanks& ranks : cases) {
      for (const Box& box : {Box{{0, 0}, {6, 4}}, Box{{3, 1}, {5, 3}}, Box{{5, 0}, {6, 1}}}) {
        const std::vector<bool> cells = written_cells(held.tensor, ranks, box);
        ASSERT_EQ(cells.size(), static_cast<size_t>(box.volume()));
        for (int64_t i = 0; i < box.volume(); ++i) {
          EXPECT_EQ(cells[static_cast<size_t>(i)],
                    is_written(held, ranks, box.index_at(i), partial));
        }
      }
    }
  }
}

}  // namespace
}  // namespace hostir::gui
