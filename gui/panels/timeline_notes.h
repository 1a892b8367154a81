// Notes that a person writes on the timeline; kept with the layout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gui/panel.h"

namespace hostir::gui {

struct TimelineNote {
  int64_t time_ns = 0;
  std::string text;
};

class TimelineNotes {
 public:
  const std::vector<TimelineNote>& all() const { return notes_; }
  /// Asks for the text of a note at this time.
  void open(int64_t time_ns);
  /// The question, while it is open.
  void draw_popup(Frame& frame);

  /// `note=TIME TEXT` lines; other lines are passed over.
  std::string save() const;
  void restore(std::string_view text);

 private:
  std::vector<TimelineNote> notes_;
  int64_t time_ns_ = 0;
  std::string text_;
};

}  // namespace hostir::gui
