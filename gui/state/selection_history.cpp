#include "gui/state/selection_history.h"

namespace hostir::gui {

void SelectionHistory::record(const Selection& selection) {
  if (!kept_.empty() && kept_[at_] == selection) return;
  if (!kept_.empty()) kept_.resize(at_ + 1);
  kept_.push_back(selection);
  if (kept_.size() > kMost) kept_.erase(kept_.begin());
  at_ = kept_.size() - 1;
}

std::optional<Selection> SelectionHistory::back() {
  if (!has_back()) return std::nullopt;
  return kept_[--at_];
}

std::optional<Selection> SelectionHistory::forward() {
  if (!has_forward()) return std::nullopt;
  return kept_[++at_];
}

void SelectionHistory::clear() {
  kept_.clear();
  at_ = 0;
}

}  // namespace hostir::gui
