// The table of actions: what the session's command table gives, and what the window adds.
#include <fmt/core.h>

#include <algorithm>

#include "gui/app.h"
#include "interp/session/command_table.h"

namespace hostir::gui {

namespace {

// Commands that make sense without arguments; the others are reached by panels and the palette.
constexpr std::string_view kBare[] = {
    "run",          "continue",     "step",           "next",   "finish", "reverse-continue",
    "reverse-step", "reverse-next", "reverse-finish", "freeze", "thaw"};

struct Label {
  std::string_view command;
  std::string_view label;
};
constexpr Label kLabels[] = {{"run", "Restart"},
                             {"continue", "Run"},
                             {"step", "Step into"},
                             {"next", "Step over"},
                             {"finish", "Step out"},
                             {"reverse-continue", "Run back"},
                             {"reverse-step", "Step back into"},
                             {"reverse-next", "Step back over"},
                             {"reverse-finish", "Step back out"},
                             {"freeze", "Freeze focus rank"},
                             {"thaw", "Thaw focus rank"}};

std::string label_of(std::string_view command) {
  for (const Label& l : kLabels) {
    if (l.command == command) return std::string(l.label);
  }
  return std::string(command);
}

}  // namespace

void App::add_actions() {
  add_session_actions();
  add_view_actions();
}

void App::add_session_actions() {
  const auto ready = [this] { return model_.snapshot() != nullptr && !model_.running(); };
  for (const interp::CommandSpec& spec : interp::command_table()) {
    if (std::find(std::begin(kBare), std::end(kBare), spec.name) == std::end(kBare)) continue;
    const std::string name(spec.name);
    actions_.add({name, label_of(spec.name), std::string(spec.menu), std::string(spec.key),
                  std::string(spec.help), [this, name] { actions_.command(name); }, ready});
  }
  for (const interp::KeyBinding& binding : interp::key_bindings()) {
    const std::string command(binding.command);
    actions_.add({command, std::string(binding.label), "Run", std::string(binding.key),
                  std::string(binding.label) + ".", [this, command] { actions_.command(command); },
                  ready});
  }
  actions_.add({"halt", "Halt", "Run", "Pause", "Stop the running command at the next decision.",
                [this] { model_.worker().interrupt(); }, [this] { return model_.running(); }});
  actions_.add({"break.here", "Toggle breakpoint at the selected line", "Break", "F9",
                "Set or delete a breakpoint at the selected instruction.",
                [this] {
                  if (!model_.selection.code || !model_.snapshot()) return;
                  const interp::CodeIndex code = *model_.selection.code;
                  for (const interp::BreakpointSnapshot& b : *model_.snapshot()->breakpoints) {
                    if (std::find(b.places.begin(), b.places.end(), code) != b.places.end()) {
                      actions_.command(fmt::format("delete {}", b.number));
                      return;
                    }
                  }
                  actions_.command("break " + model_.snapshot()->program->code->address(code));
                },
                ready});
  actions_.add({"until.cursor", "Run to the selected line", "Run", "Ctrl+F10",
                "Run until the focus rank is at the selected instruction.",
                [this] {
                  if (!model_.selection.code || !model_.snapshot()) return;
                  actions_.command(
                      "until " + model_.snapshot()->program->code->address(*model_.selection.code));
                },
                ready});
  actions_.add({"reverse-until.cursor", "Run back to the selected line", "Run", "Ctrl+Shift+F10",
                "Run backwards until the focus rank is at the selected instruction.",
                [this] {
                  if (!model_.selection.code || !model_.snapshot()) return;
                  actions_.command("reverse-until " + model_.snapshot()->program->code->address(
                                                          *model_.selection.code));
                },
                ready});
  for (int rank = 0; rank < 9; ++rank) {
    actions_.add({fmt::format("focus.{}", rank), fmt::format("Focus rank {}", rank), "",
                  fmt::format("Alt+{}", rank + 1), "Steps move this rank.",
                  [this, rank] {
                    if (rank < model_.snapshot()->rank_count())
                      actions_.command(fmt::format("rank {}", rank));
                  },
                  ready});
  }
  const auto move_focus = [this](int by) {
    const int n = model_.snapshot()->rank_count();
    if (n > 0) actions_.command(fmt::format("rank {}", (model_.snapshot()->focus + by + n) % n));
  };
  actions_.add({"focus.next", "Focus next rank", "View", "Alt+Right",
                "The next rank becomes the focus.", [move_focus] { move_focus(1); }, ready});
  actions_.add({"focus.previous", "Focus previous rank", "View", "Alt+Left",
                "The previous rank becomes the focus.", [move_focus] { move_focus(-1); }, ready});
  actions_.add({"scope.all", "Step all ranks", "Run", "Alt+A", "Steps move every rank.",
                [this] { actions_.command("rank all"); }, ready});
  actions_.add({"scope.group", "Step the focus rank's group", "Run", "Alt+G",
                "Steps move the innermost mesh group.", [this] { actions_.command("rank group"); },
                ready});
}

void App::add_view_actions() {
  actions_.add({"file.open",
                "Open...",
                "File",
                "Ctrl+O",
                "Open a program (.hir) or a log.",
                [this] { open_dialog_ = focus_input_ = true; },
                {}});
  actions_.add({"file.reload",
                "Reload",
                "File",
                "Ctrl+R",
                "Open the current file again.",
                [this] {
                  if (!model_.last_request().path.empty()) model_.open(model_.last_request());
                },
                {}});
  actions_.add(
      {"file.quit", "Quit", "File", "Ctrl+Q", "Close the window.", [this] { quit_ = true; }, {}});
  actions_.add({"palette",
                "Command palette",
                "Help",
                "F1",
                "Find any action or type a command.",
                [this] {
                  palette_open_ = focus_input_ = true;
                  palette_text_.clear();
                  palette_row_ = 0;
                },
                {}});
  actions_.add(
      {"help", "Keys", "Help", "?", "Show all keys.", [this] { help_open_ = !help_open_; }, {}});
  actions_.add({"view.theme",
                "Switch dark and light",
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
                "The panel under the mouse fills the window, or back.",
                [this] {
                  tree_.maximise(tree_.is_maximised() || tree_.focused().empty()
                                     ? std::nullopt
                                     : std::optional(tree_.focused()));
                },
                {}});
  int number = 1;
  for (const NamedLayout& layout : builtin_layouts()) {
    actions_.add({"layout." + std::string(layout.name),
                  "Layout: " + std::string(layout.name),
                  "View",
                  fmt::format("Ctrl+{}", number++),
                  "Arrange the panels for this task.",
                  [this, text = layout.text] { set_layout(text); },
                  {}});
  }
  for (const auto& panel : panels_) {
    const std::string id(panel->id());
    actions_.add({"panel." + id,
                  std::string(panel->title()),
                  "Panels",
                  "",
                  std::string(panel->hint()),
                  [this, id] { tree_.show(id); },
                  {}});
  }
}

}  // namespace hostir::gui
