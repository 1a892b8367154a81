// The text of a program as a person edits it, and the file that it is the text of.
//
// A text belongs to one file: what was made for another is refused. The file is looked at while the
// text is open and once more before it is written: a text without edits follows it, and where both
// changed nothing is lost before a person has chosen. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gui/file_watch.h"
#include "hostir/support/expected.h"

namespace hostir::gui {

/// A text that something else than typing makes: a proposed edit, or what was kept unsaved.
struct TextForDocument {
  std::string path;  // of the program that it is a text of
  std::string base;  // what the file held when it was made
  std::string text;
  size_t line = 0;  // 1-based, to be scrolled to; 0: none
};

class Document {
 public:
  enum class Disk : uint8_t {
    kSame,     // holds what the text was made from
    kNewer,    // was changed since; so was the text
    kDeleted,  // is not there any more
  };
  enum class Saved : uint8_t {
    kWritten,
    kNewer,  // not written: the file was changed by somebody else
  };
  /// Another text to be held against this one.
  struct Other {
    std::string title;  // whose it is: "the file", "what was kept unsaved"
    std::string text;
  };

  /// This file from now on. What was typed for another one is gone: whoever calls has asked.
  void follow(const std::string& path);
  /// Another way to name the same file; false, and nothing happens, where it is another file.
  bool rename(const std::string& path);
  /// Empty: nothing is open.
  const std::string& path() const { return path_; }
  /// False for logs, and for files that cannot be read.
  bool is_program() const { return is_program_; }

  const std::string& text() const { return text_; }
  /// What the file held when it was read or written last.
  const std::string& base() const { return base_; }
  /// For a text field, which edits in place.
  std::string& typed() { return text_; }
  /// Counts what changed the text other than by typing: a field that has it open is told.
  uint64_t revision() const { return revision_; }
  bool changed() const { return text_ != base_; }
  /// It would be lost if the window ended now.
  bool unsaved() const { return is_program_ && (changed() || disk_ == Disk::kDeleted); }

  Disk disk() const { return disk_; }
  /// What the file holds now; only where it is newer.
  const std::string& newer() const { return newer_; }
  /// At most once a second; true if anything is not what it was.
  bool look(double now_s);
  bool look_now();

  /// Both changed, and this text is wanted: the newer file may be replaced by it.
  void keep_mine();
  /// The file's is wanted; `mine` has the other.
  void take_file();
  /// Back to what the file holds.
  void revert();
  /// What was typed is not wanted, or is kept elsewhere: nothing is unsaved any more.
  void give_up();
  /// A text that was typed and had to give way; empty: none.
  const std::string& mine() const { return mine_; }
  void take_mine();

  /// Writes the file, unless it was changed by somebody else. Errors: those of writing.
  Expected<Saved> save();
  /// Writes it whatever it holds.
  Expected<void> overwrite();

  /// Puts a text in place of this one, as a change that nobody has saved; what was typed is kept in
  /// `mine`. False, and nothing happens, where it is a text of another file. One that was made from
  /// something else than the file holds now counts as older than the file.
  bool put(const TextForDocument& text);
  /// This very text is run: what is made from the run is made from it.
  void note_run();
  /// A line (0-based) to be brought into view, once.
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
  std::string run_text_;  // the last one that was run from here,
  std::string run_base_;  // and what the file held then
  FileStamp stamp_;
  Disk disk_ = Disk::kSame;
  bool is_program_ = false;
  uint64_t revision_ = 0;
  double looked_s_ = -10;
  std::optional<size_t> wanted_line_;
  std::optional<Other> other_;
};

}  // namespace hostir::gui
