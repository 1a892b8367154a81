// What a frame does not do again: counted, not timed.
#include <gtest/gtest.h>

#include "gui/panels/timeline_find.h"
#include "tests/unit/gui/workbench.h"

namespace hostir::gui {
namespace {

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
