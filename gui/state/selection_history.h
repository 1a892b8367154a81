// The history of selections, in order, for going back and forward.
#pragma once

#include <optional>
#include <vector>

#include "gui/state/model.h"

namespace hostir::gui {

class SelectionHistory {
 public:
  /// Call once per frame. Appends a selection that differs from the current one and drops those
  /// ahead of it. Keeps at most kMost.
  void record(const Selection& selection);
  /// nullopt if there is none in that direction.
  std::optional<Selection> back();
  std::optional<Selection> forward();
  bool has_back() const { return at_ > 0; }
  bool has_forward() const { return at_ + 1 < kept_.size(); }
  void clear();

 private:
  static constexpr size_t kMost = 100;
  std::vector<Selection> kept_;
  size_t at_ = 0;  // index of the current one, if any
};

}  // namespace hostir::gui
