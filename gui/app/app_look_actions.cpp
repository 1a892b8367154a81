// Actions for which ranks step and which rank has the focus, and for going to positions, tensors
// and instructions.
#include <fmt/core.h>

#include <algorithm>

#include "gui/app/app.h"
#include "gui/panels/log/event_walk.h"

namespace hostir::gui {

namespace {

// The neighbouring rank along a mesh axis (axes counted from the last), wrapping around. The focus
// itself if the mesh has no such axis.
interp::Rank neighbour(const interp::Snapshot& shot, size_t axis_from_last, int64_t by) {
  const Mesh* mesh = shot.program->mesh();
  if (!mesh || axis_from_last >= mesh->axes.size()) return shot.focus;
  const size_t axis = mesh->axes.size() - 1 - axis_from_last;
  int64_t inner = 1;
  for (size_t a = axis + 1; a < mesh->axes.size(); ++a) inner *= mesh->axes[a].size;
  for (int64_t position = 0; position < mesh->size(); ++position) {
    if (mesh->rank_at(position) != shot.focus) continue;
    const int64_t size = mesh->axes[axis].size;
    const int64_t coordinate = position / inner % size;
    const int64_t moved = (coordinate + by + size) % size;
    return static_cast<interp::Rank>(mesh->rank_at(position + (moved - coordinate) * inner));
  }
  return shot.focus;
}

}  // namespace

void App::add_look_actions() {
  const auto ready = [this] { return model_.snapshot() != nullptr && !model_.running(); };
  for (int rank = 0; rank < 9; ++rank) {
    actions_.add(
        {fmt::format("focus.{}", rank), fmt::format("Focus rank {}", rank), "",
         fmt::format("Alt+{}", rank + 1), "Panels show this rank.",
         [this, rank] { actions_.command(fmt::format("focus {}", rank)); },
         [this, ready, rank] { return ready() && rank < model_.snapshot()->rank_count(); }});
  }
  const auto move_focus = [this](int by) {
    const int n = model_.snapshot()->rank_count();
    if (n > 0) actions_.command(fmt::format("focus {}", (model_.snapshot()->focus + by + n) % n));
  };
  actions_.add({"focus.next", "Focus next rank", "View", "Alt+Down",
                "The next rank becomes the focus.", [move_focus] { move_focus(1); }, ready});
  actions_.add({"focus.previous", "Focus previous rank", "View", "Alt+Up",
                "The previous rank becomes the focus.", [move_focus] { move_focus(-1); }, ready});
  struct Arrow {
    const char* name;
    const char* key;
    size_t axis;
    int64_t by;
  };
  for (const Arrow& arrow : {Arrow{"right", "Right", 0, 1}, Arrow{"left", "Left", 0, -1},
                             Arrow{"down", "Down", 1, 1}, Arrow{"up", "Up", 1, -1}}) {
    actions_.add({std::string("focus.mesh.") + arrow.name,
                  std::string("Focus: ") + arrow.name + " on the mesh", "",
                  std::string("Ctrl+Alt+") + arrow.key,
                  "The neighbour along a mesh axis becomes the focus.",
                  [this, arrow] {
                    actions_.command(fmt::format(
                        "focus {}", neighbour(*model_.snapshot(), arrow.axis, arrow.by)));
                  },
                  ready});
  }
  actions_.add({"scope.all", "Step all ranks", "Run", "Alt+A", "Steps move every rank.",
                [this] { actions_.command("rank all"); }, ready});
  actions_.add({"scope.group", "Step the focus rank's group", "Run", "Alt+G",
                "Steps move the innermost mesh group.", [this] { actions_.command("rank group"); },
                ready});
  actions_.add({"scope.focus", "Step the focus rank only", "Run", "Alt+S",
                "Steps move one rank, and others only if it needs them.",
                [this] { actions_.command(fmt::format("rank {}", model_.snapshot()->focus)); },
                ready});
  actions_.add({"view.here", "Show where the focus rank is", "View", "F4",
                "Selects the instruction that the focus rank executes next.",
                [this] {
                  const interp::Snapshot& shot = *model_.snapshot();
                  model_.selection.rank = shot.focus;
                  model_.selection.code = shot.rank(shot.focus).code;
                },
                ready});
  actions_.add({"inside", "Look inside the instruction", "View", "F12",
                "What happens inside the selected instruction, or the focus rank's, for one "
                "element: each op of a launch with its numbers, or which ranks' elements a "
                "collective combines.",
                [this] { tree().show("inside"); }, ready});
  actions_.add({"view.fault", "Show the instruction of the last fault", "View", "Shift+F4",
                "Selects the instruction that a fault or deadlock names.", [this] { show_fault(); },
                [this, ready] { return ready() && !model_.snapshot()->faults->empty(); }});
  actions_.add({"select.back", "Back to what was selected before", "View", "Alt+Left",
                "Selects again what was selected before: an instruction, tensor, event or rank.",
                [this] {
                  if (const auto s = looked_at_.back()) model_.selection = *s;
                },
                [this] { return looked_at_.has_back(); }});
  actions_.add({"select.forward", "Forward to what was selected after", "View", "Alt+Right",
                "The other way.",
                [this] {
                  if (const auto s = looked_at_.forward()) model_.selection = *s;
                },
                [this] { return looked_at_.has_forward(); }});
  struct Walk {
    const char* name;
    const char* label;
    const char* key;
    const char* help;
    EventWalk walk;
  };
  for (const Walk& walk :
       {Walk{"event.next", "Next event on the lane", ".",
             "From the selected event to the next one of its stream or host.",
             EventWalk::kNextOnLane},
        Walk{"event.previous", "Previous event on the lane", ",",
             "From the selected event to the one before it on its stream or host.",
             EventWalk::kPreviousOnLane},
        Walk{"event.forward", "Follow the event forward", "]",
             "A collective: the same on the next member rank. Else: what waited for this event.",
             EventWalk::kForward},
        Walk{"event.back", "Follow the event back", "[",
             "A collective: the same on the previous member rank. A wait: the task it waited for.",
             EventWalk::kBack}}) {
    actions_.add({walk.name, walk.label, "View", walk.key, walk.help,
                  [this, walk] { walk_events(model_, walk.walk); },
                  [this] { return model_.snapshot() != nullptr && model_.selection.event >= 0; }});
  }
  actions_.add({"goto", "Go to a position...", "View", "Ctrl+G",
                "Type a position of the history, `start` or `end`.",
                [this] { open_palette("goto "); }, ready});
  const auto find = [this](int step) {
    const bool editor = tree().focused() == "editor" || !model_.snapshot();
    const std::string panel = editor ? "editor" : "host_ir";
    tree().show(panel);
    model_.find_wish = FindRequest{panel, step};
  };
  const auto any = [this] { return !model_.document().path().empty() || model_.snapshot(); };
  actions_.add({"find", "Find in the program or editor", "View", "Ctrl+F",
                "Finds words in the Edit panel if the pointer was last in it, else in the host "
                "program.",
                [find] { find(0); }, any});
  actions_.add({"find.next", "Find the next place", "View", "F3", "Go to the next occurrence.",
                [find] { find(1); }, any});
  actions_.add({"find.previous", "Find the previous place", "View", "Shift+F3",
                "Go to the previous occurrence.", [find] { find(-1); }, any});
  actions_.add({"find.symbol", "Go to a tensor, instruction or rank...", "View", "Ctrl+P",
                "A list of all of them; a few letters of the name are enough.",
                [this] { open_palette("", true); }, ready});
}

void App::add_mark_actions() {
  const auto ready = [this] { return model_.snapshot() != nullptr && !model_.running(); };
  const auto by_one = [this](bool forward) {
    const interp::Snapshot& shot = *model_.snapshot();
    const uint64_t at = shot.position.decision;
    if (forward ? at < shot.last_decision : at > 0)
      actions_.command(fmt::format("goto {}", forward ? at + 1 : at - 1));
  };
  actions_.add({"position.next", "One position forward", "Run", "Ctrl+Right",
                "Go to the next position of the history.", [by_one] { by_one(true); }, ready});
  actions_.add({"position.previous", "One position back", "Run", "Ctrl+Left",
                "Go to the previous position.", [by_one] { by_one(false); }, ready});
  actions_.add(
      {"bookmark", "Bookmark this position", "View", "Ctrl+B",
       "Sets a bookmark here, or removes it.",
       [this] {
         const interp::Snapshot& shot = *model_.snapshot();
         const uint64_t here = shot.position.decision;
         const size_t removed =
             std::erase_if(model_.bookmarks, [&](const Bookmark& b) { return b.decision == here; });
         if (removed > 0) return;
         const interp::RankSnapshot& rank = shot.rank(shot.focus);
         model_.bookmarks.push_back(
             {here, fmt::format("r{} {} {}", shot.focus, rank.address, rank.op)});
         std::sort(model_.bookmarks.begin(), model_.bookmarks.end(),
                   [](const Bookmark& a, const Bookmark& b) { return a.decision < b.decision; });
       },
       ready});
  for (size_t i = 0; i < 9; ++i) {
    actions_.add(
        {fmt::format("bookmark.{}", i + 1), fmt::format("Go to bookmark {}", i + 1), "",
         fmt::format("Ctrl+{}", i + 1), "Go to the position of this bookmark.",
         [this, i] { actions_.command(fmt::format("goto {}", model_.bookmarks[i].decision)); },
         [this, ready, i] { return ready() && i < model_.bookmarks.size(); }});
  }
}

}  // namespace hostir::gui
