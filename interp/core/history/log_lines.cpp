#include "interp/core/history/log_lines.h"

#include <algorithm>

namespace hostir::interp {

void LogLines::begin() {
  fresh_hits_ = 0;
  fresh_lines_ = 0;
  lowest_ = UINT64_MAX;
}

void LogLines::push(LogLine line) {
  behind_.push_back(std::move(line));
  if (behind_.size() > kKept) behind_.pop_front();
  fresh_lines_ = std::min<uint64_t>(fresh_lines_ + 1, behind_.size());
}

void LogLines::add(LogLine line) {
  ++fresh_hits_;
  push(std::move(line));
}

void LogLines::moved_to(uint64_t position, uint64_t lines_again,
                        const std::function<uint64_t(const LogLine&)>& place) {
  lowest_ = std::min(lowest_, position);
  while (!behind_.empty() && behind_.back().position > position) {
    ahead_.push_front(std::move(behind_.back()));
    ahead_.front().position = place(ahead_.front());
    behind_.pop_back();
    fresh_hits_ -= std::min<uint64_t>(fresh_hits_, 1);
    fresh_lines_ -= std::min<uint64_t>(fresh_lines_, 1);
  }
  std::stable_sort(ahead_.begin(), ahead_.end(),
                   [](const LogLine& a, const LogLine& b) { return a.position < b.position; });
  if (ahead_.size() > kKept) ahead_.resize(kKept);
  fresh_hits_ += lines_again;
  while (!ahead_.empty() && ahead_.front().position <= position) {
    push(std::move(ahead_.front()));
    ahead_.pop_front();
  }
  fresh_hits_ = std::max(fresh_hits_, fresh_lines_);
}

void LogLines::forget_ahead(const std::function<bool(const LogLine&)>& passed) {
  std::erase_if(ahead_, passed);
}

std::vector<LogLine> LogLines::fresh() const {
  return {behind_.end() - static_cast<std::ptrdiff_t>(fresh_lines_), behind_.end()};
}

}  // namespace hostir::interp
