// The command palette: all actions, tensors, instructions and ranks, and any line of the command
// language.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <map>

#include "gui/app/app.h"
#include "gui/draw/fuzzy.h"
#include "gui/panels/values/tensor_pick.h"
#include "hostir/support/number_from.h"
#include "interp/session/commands/command_table.h"

namespace hostir::gui {

namespace {

struct Entry {
  int score = 0;
  std::string name;  // widget name
  std::string label;
  std::string key;
  std::string help;
  std::function<void()> run;
};

// Greedy matching can miss a later word start, so take the better score of label and name.
std::optional<int> score_of(const Action& action, const std::string& wanted) {
  const auto label = fuzzy_score(action.label, wanted);
  const auto name = fuzzy_score(action.name, wanted);
  if (label && name) return std::max(*label, *name);
  return label ? label : name;
}

// Everything matches an empty query.
std::optional<int> symbol_score(std::string_view text, std::string_view wanted) {
  return wanted.empty() ? std::optional(0) : fuzzy_score(text, wanted);
}

void add_tensors(Model& model, Actions& actions, std::string_view wanted, std::vector<Entry>& out) {
  std::map<std::string, const interp::AllocationSnapshot*> tensors;
  for (const auto& memory : model.snapshot()->memory) {
    for (const interp::AllocationSnapshot& a : memory->allocations) tensors.emplace(a.name, &a);
  }
  for (const auto& [name, allocation] : tensors) {
    const auto score = symbol_score(name, wanted);
    if (!score) continue;
    out.push_back({*score, "%" + name, "%" + name, "", describe_type(*allocation),
                   [&model, &actions, name = name] {
                     model.selection.value = name;
                     model.selection.element.clear();
                     actions.request("panel.layout");
                   }});
  }
}

void add_instructions(Model& model, Actions& actions, std::string_view wanted,
                      std::vector<Entry>& out) {
  const interp::ProgramView& program = *model.snapshot()->program;
  for (size_t code = 0; code < program.lines.size(); ++code) {
    const auto index = static_cast<interp::CodeIndex>(code);
    const std::string address = program.address(index);
    const auto score = symbol_score(address, wanted);
    if (!score) continue;
    out.push_back({*score, address, fmt::format("{}   {}", address, program.mnemonic(index)), "",
                   fmt::format("line {}", program.shown(index).line), [&model, &actions, index] {
                     model.selection.code = index;
                     actions.request("panel.host_ir");
                   }});
    if (out.size() > 500) return;
  }
}

void add_ranks(const Model& model, Actions& actions, const std::string& digits,
               std::vector<Entry>& out) {
  const int rank = number_from<int>(digits).value_or(-1);
  if (rank < 0 || rank >= model.snapshot()->rank_count()) return;
  out.push_back({1 << 20, fmt::format("rank {}", rank), fmt::format("Focus rank {}", rank), "",
                 "panels show it; steps move the same ranks as before",
                 [&actions, rank] { actions.command(fmt::format("focus {}", rank)); }});
}

// `symbols`: only things in the program, whatever prefix the text has.
std::vector<Entry> find_entries(Model& model, Actions& actions, const std::string& text,
                                bool symbols) {
  std::vector<Entry> out;
  const std::string rest = text.empty() ? text : text.substr(1);
  const bool prefixed = text.starts_with('%') || text.starts_with('@');
  if (model.snapshot() && symbols && !prefixed) {
    add_tensors(model, actions, text, out);
    add_ranks(model, actions, text.starts_with('r') ? rest : text, out);
    add_instructions(model, actions, text, out);
  } else if (model.snapshot() && text.starts_with('%')) {
    add_tensors(model, actions, rest, out);
  } else if (model.snapshot() && text.starts_with('@')) {
    add_instructions(model, actions, rest, out);
  } else {
    if (model.snapshot() && text.starts_with('r')) add_ranks(model, actions, rest, out);
    for (const Action& action : actions.all()) {
      if (action.enabled && !action.enabled()) continue;
      const auto score = score_of(action, text);
      if (!score) continue;
      out.push_back({text.empty() ? 0 : *score, action.name, action.label, action.key, action.help,
                     [&actions, name = action.name] { actions.request(name); }});
    }
  }
  // If there are good matches, drop entries whose letters are merely scattered over a sentence.
  int best = 0;
  for (const Entry& e : out) best = std::max(best, e.score);
  std::erase_if(out, [best](const Entry& e) { return e.score * 2 < best; });
  std::stable_sort(out.begin(), out.end(),
                   [](const Entry& a, const Entry& b) { return a.score > b.score; });
  return out;
}

int caret_to_end(ImGuiInputTextCallbackData* data) {
  bool& wanted = *static_cast<bool*>(data->UserData);
  if (std::exchange(wanted, false)) {
    data->CursorPos = data->BufTextLen;
    data->SelectionStart = data->SelectionEnd = data->CursorPos;
  }
  return 0;
}

}  // namespace

void App::open_palette(const std::string& text, bool symbols) {
  palette_symbols_ = symbols;
  palette_open_ = focus_input_ = palette_caret_to_end_ = true;
  palette_text_ = text;
  palette_row_ = 0;
}

void App::draw_palette() {
  if (!palette_open_) return;
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  const float width = std::min(ui_.px(760), screen.x - ui_.px(20));
  ImGui::SetNextWindowPos(ImVec2((screen.x - width) / 2, std::min(ui_.px(70), screen.y * 0.1f)));
  ImGui::SetNextWindowSize(ImVec2(width, 0));
  ImGui::Begin("palette", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_AlwaysAutoResize);
  if (std::exchange(focus_input_, false)) ImGui::SetKeyboardFocusHere();
  ImGui::SetNextItemWidth(-1);
  const std::string before = palette_text_;
  const bool enter = ImGui::InputTextWithHint(
      "##palette",
      palette_symbols_
          ? "%tensor, @instruction or rank: a few letters of its name"
          : "an action, %tensor, @instruction, r3, or a command: break %y if rank == 3",
      &palette_text_, ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackAlways,
      caret_to_end, &palette_caret_to_end_);
  ui_.tag("palette/input", palette_text_);
  if (palette_text_ != before) palette_row_ = 0;
  const std::vector<Entry> found = find_entries(model_, actions_, palette_text_, palette_symbols_);
  const bool is_command = !palette_symbols_ && interp::parse_command(palette_text_).has_value();
  // Text with arguments is run as a command; a bare word selects the action with that name.
  const bool run_command =
      is_command && (found.empty() || palette_text_.find(' ') != std::string::npos);
  constexpr int kRows = 14;
  const int rows = run_command ? 0 : std::min(static_cast<int>(found.size()), kRows);
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_DownArrow))) ++palette_row_;
  if (ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_UpArrow))) --palette_row_;
  palette_row_ = std::clamp(palette_row_, 0, std::max(0, rows - 1));
  const Entry* chosen = nullptr;
  for (int i = 0; i < rows; ++i) {
    const Entry& entry = found[static_cast<size_t>(i)];
    ImGui::PushID(i);
    if (ImGui::Selectable("##row", i == palette_row_)) chosen = &entry;
    ui_.tag("palette/" + entry.name, entry.label);
    const ImVec2 at(ImGui::GetItemRectMin().x + ui_.px(6), ImGui::GetItemRectMin().y + 1);
    ImDrawList* list = ImGui::GetWindowDrawList();
    ui_.draw_elided(list, at, ui_.pal().text, entry.label, width * 0.40f);
    ui_.draw_text(list, ImVec2(at.x + width * 0.41f, at.y), ui_.pal().link, entry.key,
                  width * 0.15f);
    ui_.draw_elided(list, ImVec2(at.x + width * 0.57f, at.y), ui_.pal().text_dim, entry.help,
                    width * 0.41f);
    if (ImGui::IsItemHovered() && !entry.help.empty()) Ui::tooltip("%s", entry.help.c_str());
    ImGui::PopID();
  }
  if (!run_command && static_cast<int>(found.size()) > rows)
    ui_.text_dim(fmt::format("{} more: type to narrow", static_cast<int>(found.size()) - rows));
  if (run_command) {
    ui_.text_dim("Enter runs this command");
  } else if (rows == 0) {
    const auto parsed = interp::parse_command(palette_text_);
    ui_.text_dim(palette_symbols_ ? "no tensor, instruction or rank matches"
                 : parsed         ? ""
                                  : parsed.error().message());
  }
  if (enter && rows > 0) chosen = &found[static_cast<size_t>(palette_row_)];
  if (enter && !chosen && !run_command) focus_input_ = true;  // nothing matches yet: keep typing
  if (chosen) chosen->run();
  if (enter && run_command) actions_.command(palette_text_);
  const bool click_outside =
      ImGui::IsMouseClicked(0) &&
      !ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
  if (chosen || (enter && run_command) || click_outside ||
      ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Escape)))
    palette_open_ = false;
  ImGui::End();
}

}  // namespace hostir::gui
