// What is kept between sessions of the window: theme, scale, layouts, recent files, and per program
// its breakpoints, watches, bookmarks and notes. One small text file.
//
// Lines of `key = value`; `break`, `watch`, `bookmark` and `note` belong to the `program` line
// above them; unknown keys are kept. A file that cannot be read is treated as empty. It is written
// as soon as something changed, whole or not at all: a kill or a crash loses nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gui/theme.h"

namespace hostir::gui {

/// What belongs to one program or log: it comes back when the file is opened again.
struct ProgramSettings {
  std::string path;                    // absolute
  std::vector<std::string> breaks;     // commands that make them again
  std::vector<std::string> watches;    // expressions
  std::vector<std::string> bookmarks;  // "DECISION text"
  std::vector<std::string> notes;      // "TIME text", of the timeline, in ns
  bool empty() const {
    return breaks.empty() && watches.empty() && bookmarks.empty() && notes.empty();
  }
};

struct Settings {
  ThemeKind theme = ThemeKind::kDark;
  float scale = 1;                         // on top of the screen's
  std::string layout;                      // text of the panel tree; empty: the built-in one
  std::vector<std::string> saved_layouts;  // "name: text"
  std::vector<std::string> recent;         // newest first, at most 10
  std::vector<std::string> compared;       // logs that were compared with, newest first
  std::vector<std::string> panel_state;    // "panel: key=value", several of one panel
  std::vector<ProgramSettings> programs;   // newest first, at most 30
  std::vector<std::string> other;          // lines of keys that this version does not know

  void add_recent(const std::string& path);
  /// The newest place in the list is this program's; one that has nothing to keep is dropped.
  void keep_program(ProgramSettings program);
  /// What another window wrote: of all programs but `own`, and its recent files behind those here.
  void take_programs(const Settings& theirs, const std::string& own);
  const ProgramSettings* find_program(const std::string& path) const;
  /// What `Panel::save` gave, one entry for each of its lines, in place of what there was.
  void keep_panel(std::string_view panel, std::string_view state);
  /// The same lines, each with its end; empty: nothing is kept.
  std::string panel(std::string_view panel) const;
  static Settings parse(const std::string& text);
  std::string to_string() const;
};

/// `$XDG_CONFIG_HOME/hostir/gui.conf`, else `~/.config/hostir/gui.conf`; empty where there is no
/// home.
std::string settings_path();
Settings load_settings(const std::string& path);
/// False if it could not be written.
bool save_settings(const std::string& path, const Settings& settings);

}  // namespace hostir::gui
