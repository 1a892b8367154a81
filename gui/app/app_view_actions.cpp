// Actions that change only the window: files, palette, theme, scale, layouts, panels.
#include <fmt/core.h>

#include <algorithm>

#include "gui/app/app.h"

namespace hostir::gui {

void App::add_view_actions() {
  actions_.add({"file.open",
                "Open...",
                "File",
                "Ctrl+O",
                "Open a program (.hir) or a log.",
                [this] { begin_file_dialog(FileDialog::kOpen); },
                {}});
  actions_.add({"file.reload",
                "Reload",
                "File",
                "Ctrl+R",
                "Load the current file again and go to the same position; breakpoints stay.",
                [this] {
                  if (!model_.last_request().path.empty()) reload();
                },
                {}});
  actions_.add(
      {"file.quit", "Quit", "File", "Ctrl+Q", "Close the window.", [this] { request_quit(); }, {}});
  actions_.add({"palette",
                "Command palette",
                "Help",
                "F1",
                "Find any action or type a command.",
                [this] { open_palette(""); },
                {}});
  actions_.add(
      {"help", "Keys", "Help", "?", "Show all keys.", [this] { help_open_ = !help_open_; }, {}});
  actions_.add({"view.theme",
                "Switch dark and light theme",
                "View",
                "Ctrl+Shift+L",
                "Switch between the themes.",
                [this] {
                  settings_.theme =
                      settings_.theme == ThemeKind::kDark ? ThemeKind::kLight : ThemeKind::kDark;
                  style_dirty_ = true;
                },
                {}});
  const auto rescale = [this](float factor) {
    settings_.scale = factor == 0 ? 1.0f : std::clamp(settings_.scale * factor, 0.5f, 3.0f);
    style_dirty_ = true;
  };
  actions_.add({"view.larger",
                "Larger",
                "View",
                "Ctrl+=",
                "Scale everything up.",
                [rescale] { rescale(1.1f); },
                {}});
  actions_.add({"view.smaller",
                "Smaller",
                "View",
                "Ctrl+-",
                "Scale everything down.",
                [rescale] { rescale(1 / 1.1f); },
                {}});
  actions_.add({"view.scale_reset",
                "Normal size",
                "View",
                "Ctrl+0",
                "Scale 100 %.",
                [rescale] { rescale(0); },
                {}});
  actions_.add({"view.maximise",
                "Maximise panel",
                "View",
                "Shift+Esc",
                "Maximise the panel under the mouse, or restore it.",
                [this] {
                  tree().maximise(tree().is_maximised() || tree().focused().empty()
                                      ? std::nullopt
                                      : std::optional(tree().focused()));
                },
                {}});
  actions_.add(
      {"file.cancel_opening", "Cancel the running operation", "File", "Esc",
       "Cancels opening a file, keeping the open one; stops a long goto at the current position.",
       [this] {
         if (model_.opening())
           model_.worker().cancel_opening();
         else
           model_.worker().interrupt();
       },
       [this] { return model_.opening() || model_.worker().goto_progress().has_value(); }});
  int number = 1;
  for (const NamedLayout& layout : builtin_layouts()) {
    actions_.add({"layout." + std::string(layout.name),
                  "Layout: " + std::string(layout.name),
                  "View",
                  fmt::format("Ctrl+Alt+{}", number++),
                  "Arrange the panels for this task.",
                  [this, text = layout.text] {
                    layout_chosen_ = true;
                    set_layout(text);
                  },
                  {}});
  }
  for (const auto& panel : panels_) {
    const std::string id(panel->id());
    actions_.add({"panel." + id,
                  std::string(panel->title()),
                  "Panels",
                  "",
                  std::string(panel->hint()),
                  [this, id] { tree().show(id); },
                  {}});
  }
}

}  // namespace hostir::gui
