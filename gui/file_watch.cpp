#include "gui/file_watch.h"

namespace hostir::gui {

void FileWatch::start(const std::string& path) {
  std::error_code error;
  path_ = path;
  state_ = State::kSame;
  time_ = path.empty() ? time_ : std::filesystem::last_write_time(path, error);
  if (error) path_.clear();  // it was never there: opening has said so
}

FileWatch::State FileWatch::look(double now_s) {
  constexpr double kSeconds = 1;
  if (path_.empty() || now_s - looked_s_ < kSeconds) return state_;
  looked_s_ = now_s;
  look_now();
  return state_;
}

bool FileWatch::has_news() {
  if (path_.empty()) return false;
  const State before = state_;
  look_now();
  return state_ != before;
}

void FileWatch::look_now() {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(path_, error);
  state_ = error ? State::kDeleted : time != time_ ? State::kChanged : State::kSame;
}

}  // namespace hostir::gui
