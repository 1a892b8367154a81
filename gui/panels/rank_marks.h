// Marks beside the program's lines: a dot where a rank's host is, ◔ where one of its streams is.
#pragma once

#include <map>
#include <vector>

#include "gui/panel.h"

namespace hostir::gui {

class RankMarks {
 public:
  /// Of the snapshot; cheap when it is the same as last time.
  void index(const interp::SnapshotPtr& shot);
  float width(const Ui& ui) const;
  /// Right-aligned in `width` from `at`; `line` counts from 0.
  void draw(Frame& frame, ImDrawList* list, int line, ImVec2 at, float width, float row) const;

 private:
  struct Head {
    interp::Rank rank = 0;
    size_t stream = 0;  // index into RankSnapshot::streams
  };
  struct Line {
    std::vector<interp::Rank> hosts;
    std::vector<Head> heads;  // work that heads an unfinished stream
  };
  void tooltip(Frame& frame, const Line& line) const;

  interp::SnapshotPtr shot_;
  std::map<int, Line> lines_;
};

}  // namespace hostir::gui
