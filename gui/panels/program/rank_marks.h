// Marks beside program lines: a dot for a rank's host position, ◔ for the head of one of its
// streams.
#pragma once

#include <map>
#include <vector>

#include "gui/tree/panel.h"

namespace hostir::gui {

class RankMarks {
 public:
  /// Indexes the snapshot; cheap if it did not change.
  void index(const interp::SnapshotPtr& shot);
  float width(const Ui& ui) const;
  /// Draws right-aligned in `width` starting at `at`; `line` is 0-based.
  void draw(Frame& frame, ImDrawList* list, int line, ImVec2 at, float width, float row) const;

 private:
  struct Head {
    interp::Rank rank = 0;
    size_t stream = 0;  // index into RankSnapshot::streams
  };
  struct Line {
    std::vector<interp::Rank> hosts;
    std::vector<Head> heads;  // work at the head of an unfinished stream
  };
  void tooltip(Frame& frame, const Line& line) const;

  interp::SnapshotPtr shot_;
  std::map<int, Line> lines_;
};

}  // namespace hostir::gui
