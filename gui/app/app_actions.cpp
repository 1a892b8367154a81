// The table of actions: the session's command table plus the window's own actions.
#include <fmt/core.h>

#include "gui/app/app.h"
#include "hostir/support/lists.h"
#include "interp/session/commands/command_table.h"

namespace hostir::gui {

namespace {

// Commands that make sense without arguments; panels and the palette offer the others.
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
  add_look_actions();
  add_mark_actions();
  add_view_actions();
  add_compare_actions();
  add_document_actions();
  add_copy_actions();
}

void App::add_session_actions() {
  const auto ready = [this] {
    return model_.snapshot() && model_.snapshot()->no_stepping.empty() && !model_.running();
  };
  for (const interp::CommandSpec& spec : interp::command_table()) {
    if (!contains(kBare, spec.name)) continue;
    const std::string name(spec.name);
    // In the window, users want to see the start before the program runs again.
    const bool restart = spec.kind == interp::CommandKind::kRun;
    const std::string command = restart ? "goto start" : name;
    actions_.add(
        {name, label_of(spec.name), std::string(spec.menu), std::string(spec.key),
         restart ? "Back to the start of the run; F5 runs it again." : std::string(spec.help),
         [this, command] { actions_.command(command); }, ready});
  }
  for (const interp::KeyBinding& binding : interp::key_bindings()) {
    const std::string command(binding.command);
    actions_.add({command, std::string(binding.label), "Run", std::string(binding.key),
                  std::string(binding.label) + ".", [this, command] { actions_.command(command); },
                  ready});
  }
  actions_.add({"whatif", "What if\u2026 (try small edits)", "Run", "",
                "At a deadlock or mismatch: propose small edits of the program, try each in the "
                "background, show which let it complete.",
                [this] {
                  tree().show("whatif");
                  model_.what_if().start(model_);
                },
                [this] { return WhatIfSearch::possible(model_) && !model_.what_if().running(); }});
  actions_.add({"halt", "Halt", "Run", "Pause", "Stop the running command at the next decision.",
                [this] { model_.worker().interrupt(); }, [this] { return model_.running(); }});
  actions_.add({"break.here", "Toggle breakpoint at the selected line", "Break", "F9",
                "Set or delete a breakpoint at the selected instruction.",
                [this] {
                  if (!model_.selection.code || !model_.snapshot()) return;
                  const interp::CodeIndex code = *model_.selection.code;
                  for (const interp::BreakpointSnapshot& b : *model_.snapshot()->breakpoints) {
                    if (!b.logs && contains(b.places, code)) {
                      actions_.command(fmt::format("delete {}", b.number));
                      return;
                    }
                  }
                  actions_.command("break " + model_.snapshot()->program->address(code));
                },
                ready});
  actions_.add({"break.enable", "Enable or disable the breakpoint at the selected line", "Break",
                "Ctrl+F9", "A disabled breakpoint counts its hits and does not stop.",
                [this] {
                  if (!model_.selection.code) return;
                  for (const interp::BreakpointSnapshot& b : *model_.snapshot()->breakpoints) {
                    if (contains(b.places, *model_.selection.code))
                      actions_.command(
                          fmt::format("{} {}", b.enabled ? "disable" : "enable", b.number));
                  }
                },
                ready});
  actions_.add({"break.write", "Stop when the selected tensor or element is written", "Break",
                "Shift+F9", "A breakpoint on data: `watch %y[0, 1]`.",
                [this] {
                  if (model_.selection.value.empty()) {
                    model_.notify(Message::Kind::kWarning,
                                  "select a tensor or an element first: click it in Layout, "
                                  "Values or the program");
                    return;
                  }
                  std::string index;
                  for (const int64_t i : model_.selection.element)
                    index += (index.empty() ? "[" : ", ") + std::to_string(i);
                  actions_.command("watch %" + model_.selection.value +
                                   (index.empty() ? "" : index + "]"));
                },
                ready});
  actions_.add({"break.nan", "Stop at the first NaN or Inf", "Break", "",
                "A breakpoint on any write that holds NaN or Inf.",
                [this] { actions_.command("break nan"); }, ready});
  actions_.add({"break.collective", "Stop at every collective", "Break", "",
                "A breakpoint on all collectives.",
                [this] { actions_.command("break collective"); }, ready});
  actions_.add({"break.delete_all", "Delete all breakpoints", "Break", "Ctrl+Shift+F9",
                "Deletes all breakpoints.", [this] { actions_.command("delete"); }, ready});
  actions_.add({"until.cursor", "Run to the selected line", "Run", "Ctrl+F10",
                "Run until the focus rank is at the selected instruction.",
                [this] {
                  if (!model_.selection.code || !model_.snapshot()) return;
                  actions_.command("until " +
                                   model_.snapshot()->program->address(*model_.selection.code));
                },
                ready});
  actions_.add({"reverse-until.cursor", "Run back to the selected line", "Run", "Ctrl+Shift+F10",
                "Run backwards until the focus rank is at the selected instruction.",
                [this] {
                  if (!model_.selection.code || !model_.snapshot()) return;
                  actions_.command("reverse-until " +
                                   model_.snapshot()->program->address(*model_.selection.code));
                },
                ready});
}

}  // namespace hostir::gui
