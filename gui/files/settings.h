// Settings kept between runs of the window: theme, scale, layouts, recent files, and per program
// its breakpoints, watches, bookmarks and notes. One small text file.
//
// Lines are `key = value`; `break`, `watch`, `bookmark` and `note` lines belong to the `program`
// line above them; unknown keys are preserved. A file that cannot be read is treated as empty. The
// file is written atomically as soon as something changed, so that a kill or crash loses nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/draw/theme.h"

namespace hostir::gui {

/// Settings of one program or log, restored when the file is opened again.
struct ProgramSettings {
  std::string path;                    // absolute
  std::vector<std::string> breaks;     // commands that recreate them
  std::vector<std::string> watches;    // expressions
  std::vector<std::string> bookmarks;  // "DECISION text"
  std::vector<std::string> notes;      // "TIME text" for the timeline, TIME in ns
  bool empty() const {
    return breaks.empty() && watches.empty() && bookmarks.empty() && notes.empty();
  }
};

struct Settings {
  ThemeKind theme = ThemeKind::kDark;
  float scale = 1;                         // multiplies the screen's scale
  std::string layout;                      // text of the panel tree; empty: the built-in one
  std::vector<std::string> saved_layouts;  // "name: text"
  std::vector<std::string> recent;         // newest first, at most 10
  std::vector<std::string> compared;       // logs compared with, newest first
  std::vector<std::string> panel_state;    // "panel: key=value", one entry per line of state
  std::vector<ProgramSettings> programs;   // newest first, at most 30
  std::vector<std::string> other;          // lines with keys that this version does not recognise

  void add_recent(const std::string& path);
  /// Puts this program first in the list; drops it if it has nothing to keep.
  void keep_program(ProgramSettings program);
  /// Merges settings written by another window: all programs except `own`, and its recent files
  /// after ours.
  void take_programs(const Settings& theirs, const std::string& own);
  const ProgramSettings* find_program(const std::string& path) const;
  /// Replaces the panel's entries by the lines that `Panel::save` returned.
  void keep_panel(std::string_view panel, std::string_view state);
  /// The panel's lines, each with its newline; empty if there are none.
  std::string panel(std::string_view panel) const;
  static Settings parse(const std::string& text);
  std::string to_string() const;
};

/// `$XDG_CONFIG_HOME/hostir/gui.conf`, else `~/.config/hostir/gui.conf`; empty if there is no home
/// directory.
std::string settings_path();
Settings load_settings(const std::string& path);
/// Returns false if the file could not be written.
bool save_settings(const std::string& path, const Settings& settings);

}  // namespace hostir::gui
