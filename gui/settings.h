// What is kept between sessions of the window: theme, scale, layouts, recent files. One small text
// file.
//
// Lines of `key = value`; unknown keys are kept. A file that cannot be read is treated as empty and
// is said in the messages; writing goes through a temporary file.
#pragma once

#include <string>
#include <vector>

#include "gui/theme.h"

namespace hostir::gui {

struct Settings {
  ThemeKind theme = ThemeKind::kDark;
  float scale = 1;                         // on top of the screen's
  std::string layout;                      // text of the panel tree; empty: the built-in one
  std::vector<std::string> saved_layouts;  // "name: text"
  std::vector<std::string> recent;         // newest first, at most 10
  std::vector<std::string> panel_state;    // "panel: key=value ..."
  std::vector<std::string> other;          // lines of keys that this version does not know

  void add_recent(const std::string& path);
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
