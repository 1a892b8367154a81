// Detects whether a file changed. Contents decide; they are read only if the time, size or inode
// changed.
//
// `FileWatch` watches the open file. A drawing window checks at most once a second; a sleeping
// window checks now and then and draws only if something changed. The text being edited tracks its
// file separately (gui/files/document.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hostir::gui {

/// Metadata that shows a file may have changed, without reading it.
struct FileStamp {
  bool there = false;
  int64_t modified_ns = 0;
  int64_t status_ns = 0;  // also changes when a program sets the modification time back
  int64_t bytes = 0;
  uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
FileStamp stamp_of(const std::string& path);

/// Maps every name of a file to the same path; returns the path unchanged if there is no current
/// folder.
std::string absolute_path(const std::string& path);

class FileWatch {
 public:
  enum class State : uint8_t { kSame, kChanged, kDeleted };

  /// Watches whether the file holds these bytes. An empty path watches nothing.
  void start(const std::string& path, std::string_view content);
  /// Watches a file that is too expensive to read again (a log), by its stamp alone.
  void start(const std::string& path);
  State look(double now_s);
  /// Checks at once; returns true if the state changed.
  bool has_news();

 private:
  void look_now();

  std::string path_;
  std::optional<std::string> content_;
  FileStamp first_;  // stamp at start, for a file that is not read
  FileStamp seen_;
  double looked_s_ = -10;
  State state_ = State::kSame;
};

}  // namespace hostir::gui
