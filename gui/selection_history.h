// Where one has looked: selections in the order in which they were made, to go back and forth.
#pragma once

#include <optional>
#include <vector>

#include "gui/model.h"

namespace hostir::gui {

class SelectionHistory {
 public:
  /// Call once per frame: a selection that is not the last one is added, and what was ahead of it
  /// is dropped. At most kMost are kept.
  void record(const Selection& selection);
  /// nullopt: there is none on that side.
  std::optional<Selection> back();
  std::optional<Selection> forward();
  bool has_back() const { return at_ > 0; }
  bool has_forward() const { return at_ + 1 < kept_.size(); }
  void clear();

 private:
  static constexpr size_t kMost = 100;
  std::vector<Selection> kept_;
  size_t at_ = 0;  // the current one, if there is any
};

}  // namespace hostir::gui
