// Unsaved texts, kept on disk for the next start of the window.
//
// Each text is one file in a folder beside the settings, replaced atomically shortly after each
// edit, so it survives a kill, a crash and a power loss. A text belongs to the window that wrote it
// while that process runs; texts left by other windows are offered when their file is opened.
// Single-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::gui {

struct UnsavedText {
  std::string file;  // absolute path of the file that was edited
  std::string base;  // contents of that file when editing began
  std::string text;
  std::string kept_in;  // the file that stores this text
  int64_t time_s = 0;   // time of the last write, in seconds since 1970
};

class UnsavedTexts {
 public:
  /// If `folder` is empty, no text is kept.
  explicit UnsavedTexts(std::string folder);

  bool keeps() const { return !folder_.empty(); }
  /// Stores this window's text, replacing the previous one. Errors: those of writing.
  Expected<void> keep(const std::string& file, const std::string& base, const std::string& text);
  /// Deletes the stored text: it was saved or discarded.
  void forget();
  /// Leaves the stored text for later; the next `keep` starts a new one.
  void leave();
  /// Texts that no running window is editing, from ended windows and from `leave`. Newest first.
  std::vector<UnsavedText> left() const;
  /// Deletes a text that was restored or discarded.
  static void remove(const UnsavedText& text);

 private:
  std::string own_file() const;

  std::string folder_;
  std::string writer_;
  unsigned number_ = 0;  // number of this window's current text
  bool kept_ = false;
};

}  // namespace hostir::gui
