// The program text being edited, and its file.
//
// A document belongs to one file and rejects text made for another. The file is checked while the
// document is open and again before it is written. A document without edits follows its file; if
// both changed, nothing is discarded until the user chooses. Single-threaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "gui/files/file_watch.h"
#include "hostir/support/expected.h"

namespace hostir::gui {

/// Text that was not typed: a proposed edit, or recovered unsaved text.
struct TextForDocument {
  std::string path;  // the program file it belongs to
  std::string base;  // contents of the file when the text was made
  std::string text;
  size_t line = 0;  // 1-based line to scroll to; 0: none
};

class Document {
 public:
  enum class Disk : uint8_t {
    kSame,     // the file holds what the text was made from
    kNewer,    // the file changed since, and so did the text
    kDeleted,  // the file no longer exists
  };
  enum class Saved : uint8_t {
    kWritten,
    kNewer,  // not written: another program changed the file
  };
  /// Another text to compare with this one.
  struct Other {
    std::string title;  // its origin: "the file", "what was kept unsaved"
    std::string text;
  };

  /// Switches to this file. Discards edits to the previous one: the caller must have asked.
  void follow(const std::string& path);
  /// Changes the path to another name of the same file. Returns false, and does nothing, if it is
  /// another file.
  bool rename(const std::string& path);
  /// Empty if nothing is open.
  const std::string& path() const { return path_; }
  /// False for logs, and for files that cannot be read.
  bool is_program() const { return is_program_; }

  const std::string& text() const { return text_; }
  /// Contents of the file at the last read or write.
  const std::string& base() const { return base_; }
  /// For a text field that edits in place.
  std::string& typed() { return text_; }
  /// Incremented when the text changes other than by typing, so that an open text field reloads it.
  uint64_t revision() const { return revision_; }
  bool changed() const { return text_ != base_; }
  /// True if closing the window now would lose the text.
  bool unsaved() const { return is_program_ && (changed() || disk_ == Disk::kDeleted); }

  Disk disk() const { return disk_; }
  /// Current contents of the file; set only if it is newer.
  const std::string& newer() const { return newer_; }
  /// Checks the file, at most once a second; returns true if anything changed.
  bool look(double now_s);
  bool look_now();

  /// Resolves a conflict in favour of this text: saving may replace the newer file.
  void keep_mine();
  /// Resolves a conflict in favour of the file; the edited text moves to `mine`.
  void take_file();
  /// Discards the edits: the text becomes the file's contents again.
  void revert();
  /// Discards unsaved edits that are not wanted or are kept elsewhere.
  void give_up();
  /// Edited text that was displaced by another; empty if none.
  const std::string& mine() const { return mine_; }
  void take_mine();

  /// Writes the file unless another program changed it. Errors: those of writing.
  Expected<Saved> save();
  /// Writes the file unconditionally.
  Expected<void> overwrite();

  /// Replaces the text with `text` as an unsaved change; displaced edits are kept in `mine`.
  /// Returns false, and does nothing, if `text` belongs to another file. If the file no longer
  /// holds `text.base`, the document counts as older than the file.
  bool put(const TextForDocument& text);
  /// Records that this text was run, so that edits proposed for the run have it as their base.
  void note_run();
  /// Returns a 0-based line to scroll to, once.
  std::optional<size_t> take_wanted_line();
  void want_line(size_t line) { wanted_line_ = line; }

  void compare_with(Other other) { other_ = std::move(other); }
  void end_comparing() { other_.reset(); }
  const std::optional<Other>& compared_with() const { return other_; }

 private:
  void replace_text(std::string text);
  void take_disk(std::optional<std::string> content);

  std::string path_;
  std::string text_;
  std::string base_;
  std::string newer_;
  std::string mine_;
  std::string run_text_;  // the text last run from here,
  std::string run_base_;  // and the file's contents at that time
  FileStamp stamp_;
  Disk disk_ = Disk::kSame;
  bool is_program_ = false;
  uint64_t revision_ = 0;
  double looked_s_ = -10;
  std::optional<size_t> wanted_line_;
  std::optional<Other> other_;
};

}  // namespace hostir::gui
