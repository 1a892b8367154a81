// Whether a file still is what it was: told by its content, which is read when its time, size or
// place on the disk changed.
//
// `FileWatch` is of the open file: looked at when the window draws, at most once a second; a
// sleeping window looks now and then, and draws only for news. What is edited has its own view of
// its file (gui/document.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hostir::gui {

/// What tells without reading a file that it may have changed.
struct FileStamp {
  bool there = false;
  int64_t modified_ns = 0;
  int64_t status_ns = 0;  // changes also where a program sets the other time back
  int64_t bytes = 0;
  uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::string& path);

/// The same for every way to name a file; the path itself where there is no folder to start from.
std::string absolute_path(const std::string& path);

class FileWatch {
 public:
  enum class State : uint8_t { kSame, kChanged, kDeleted };

  /// Watches whether the file holds these bytes; an empty path watches nothing.
  void start(const std::string& path, std::string_view content);
  /// The same for a file that nobody wants to read again (a log): as it is now, by its stamp.
  void start(const std::string& path);
  State look(double now_s);
  /// Looks at once; true if the state became another.
  bool has_news();

 private:
  void look_now();

  std::string path_;
  std::optional<std::string> content_;
  FileStamp first_;  // when it was started, of a file that is not read
  FileStamp seen_;
  double looked_s_ = -10;
  State state_ = State::kSame;
};

}  // namespace hostir::gui
