// Texts that were typed and not saved, kept on the disk for the next start of the window.
//
// One file per text in a folder beside the settings, replaced whole shortly after each edit: it
// outlives a kill, a crash and a loss of power. A text belongs to the window that wrote it while
// that runs; what others left behind is offered when its file is opened. One thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::gui {

struct UnsavedText {
  std::string file;  // whose text it is; absolute
  std::string base;  // what that file held when the text was made from it
  std::string text;
  std::string kept_in;  // the file that keeps it
  int64_t time_s = 0;   // since 1970, when it was kept last
};

class UnsavedTexts {
 public:
  /// An empty folder keeps nothing.
  explicit UnsavedTexts(std::string folder);

  bool keeps() const { return !folder_.empty(); }
  /// The text of this window, in place of the one before. Errors: those of writing.
  Expected<void> keep(const std::string& file, const std::string& base, const std::string& text);
  /// It was saved or given up.
  void forget();
  /// It stays for later; what is kept from now on is another text.
  void leave();
  /// What no running window works on: of ended ones, and what this one left. Newest first.
  std::vector<UnsavedText> left() const;
  /// Somebody has it now, or nobody wants it.
  static void remove(const UnsavedText& text);

 private:
  std::string own_file() const;

  std::string folder_;
  std::string writer_;
  unsigned number_ = 0;  // of the text of this window
  bool kept_ = false;
};

}  // namespace hostir::gui
