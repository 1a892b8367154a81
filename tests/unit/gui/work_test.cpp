// What a frame does not do again: counted, not timed.
#include <gtest/gtest.h>

#include "gui/panels/inline_values.h"
#include "gui/panels/timeline_find.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

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
  w->settle(10);
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

}  // namespace
}  // namespace hostir::gui
