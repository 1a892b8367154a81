// Whether the open file still is what it was when it was opened.
//
// Looked at when the window draws, at most once a second; a sleeping window looks now and then, and
// draws only for news.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace hostir::gui {

class FileWatch {
 public:
  enum class State : uint8_t { kSame, kChanged, kDeleted };

  /// Remembers the file as it is now; an empty path watches nothing.
  void start(const std::string& path);
  State look(double now_s);
  /// Looks at once; true if the state became another.
  bool has_news();

 private:
  void look_now();

  std::string path_;
  std::filesystem::file_time_type time_{};
  double looked_s_ = -10;
  State state_ = State::kSame;
};

}  // namespace hostir::gui
