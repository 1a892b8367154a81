// Breakpoints and log points: enabled, condition, ranks, ignore count, hits; and a field that adds
// one.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <utility>

#include "gui/panels/panels.h"

namespace hostir::gui {

namespace {

using interp::BreakpointSnapshot;
using interp::Command;

std::string condition_of(const Command& c) { return c.condition ? to_string(*c.condition) : ""; }
std::string ranks_of(const Command& c) {
  return c.ranks.kind == interp::RankSelector::Kind::kFocus ? "" : to_string(c.ranks);
}

constexpr const char* kRanksHelp =
    "Ranks that it stops, each at every visit: 3, 0,2, 4..7, group tp, tp=0, all.\n"
    "None (any): the first rank to arrive stops the run and the others pass; if the condition "
    "distinguishes\nranks, each rank stops.\n"
    "Enter sets them; the breakpoint is recreated and counts from 0.";
constexpr const char* kLogRanksHelp =
    "Ranks that write the line: 3, 0,2, 4..7, group tp, tp=0.\n"
    "Enter sets them; the log point is recreated and counts from 0.";

class BreaksPanel : public Panel {
 public:
  std::string_view id() const override { return "breaks"; }
  std::string_view title() const override { return "Breakpoints"; }
  std::string_view hint() const override {
    return "Where runs stop: click left of a line of the program, or type a place here. An "
           "instruction, a collective, a write of a tensor, NaN; with a condition, on some ranks, "
           "after so many passes. Log points write a line and let the run go on.";
  }

  HeightRequest wanted_height(const Frame& frame) const override {
    const float row = ImGui::GetFrameHeightWithSpacing();
    const size_t n = frame.model.snapshot()->breakpoints->size();
    const float rows = n == 0 ? 1.6f : static_cast<float>(n) + 1.3f;
    return HeightRequest::some(row * (1.2f + rows + (problem_.empty() ? 0 : 1)));
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    take_answer(frame);
    ImGui::SetNextItemWidth(-1);
    if (std::exchange(refocus_, false)) ImGui::SetKeyboardFocusHere();
    if (ImGui::InputTextWithHint("##new",
                                 "break all_reduce if rank == 3, watch %y[0, 1], break nan, "
                                 "log all_reduce, \"seq {seq}\" ...",
                                 &text_, ImGuiInputTextFlags_EnterReturnsTrue)) {
      add(frame);
    }
    frame.ui.tag("breaks/new", text_);
    if (!problem_.empty()) {
      ImGui::PushTextWrapPos(0);
      frame.ui.state_word(StateKind::kMismatch, problem_);
      ImGui::PopTextWrapPos();
      frame.ui.tag("breaks/problem", problem_);
    }
    if (shot.breakpoints->empty()) {
      ImGui::PushTextWrapPos(0);
      frame.ui.text_dim(hint());
      ImGui::PopTextWrapPos();
      return;
    }
    draw_table(frame, *shot.breakpoints);
  }

 private:
  void add(Frame& frame) {
    if (text_.empty()) return;
    const auto plain = interp::parse_command(text_);
    // Keep the text until the breakpoint exists, so that a wrong location can be corrected, not
    // retyped.
    waits_for_ = request(frame, plain ? text_ : "break " + text_);
    known_ = frame.model.snapshot()->breakpoints->size();
    refocus_ = !waits_for_;
  }

  void take_answer(const Frame& frame) {
    if (!waits_for_ || frame.model.running()) return;
    if (frame.model.snapshot()->breakpoints->size() != known_) {
      text_.clear();
      waits_for_ = false;
    } else if (!frame.model.command_error().empty()) {
      problem_ = frame.model.command_error();
      waits_for_ = false;
      refocus_ = true;
    }
  }

  // Runs a command line. A line that does not parse is not run; the error is shown here.
  bool request(Frame& frame, const std::string& line) {
    const auto parsed = interp::parse_command(line);
    problem_ = parsed ? "" : parsed.error().message();
    if (parsed) frame.actions.command(line);
    return parsed.has_value();
  }

  void draw_table(Frame& frame, const std::vector<BreakpointSnapshot>& all) {
    constexpr ImGuiTableFlags kFlags =
        ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY | ImGuiTableFlags_Resizable;
    if (!ImGui::BeginTable("table", 7, kFlags)) return;
    const auto fixed = [&](const char* title, float width) {
      ImGui::TableSetupColumn(title, ImGuiTableColumnFlags_WidthFixed, frame.ui.px(width));
    };
    ImGui::TableSetupScrollFreeze(0, 1);
    fixed("on", 22);
    ImGui::TableSetupColumn("stops at", ImGuiTableColumnFlags_WidthStretch, 1.3f);
    ImGui::TableSetupColumn("condition", ImGuiTableColumnFlags_WidthStretch, 1.0f);
    fixed("ranks", 52);
    fixed("ignore", 46);
    fixed("hits", 34);
    fixed("", 20);
    ImGui::TableHeadersRow();
    for (const BreakpointSnapshot& b : all) draw_row(frame, b);
    ImGui::EndTable();
  }

  void draw_row(Frame& frame, const BreakpointSnapshot& b) {
    const auto command = interp::parse_command(b.text);
    const std::string name = fmt::format("breaks/{}", b.number);
    ImGui::PushID(static_cast<int>(b.number));
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    bool on = b.enabled;
    if (ImGui::Checkbox("##on", &on))
      frame.actions.command(fmt::format("{} {}", on ? "enable" : "disable", b.number));
    frame.ui.tag(name + "/on", b.enabled ? "on" : "off");
    ImGui::TableNextColumn();
    ImGui::AlignTextToFramePadding();
    draw_place(frame, b, command ? &*command : nullptr);
    ImGui::TableNextColumn();
    if (command) draw_fields(frame, b, *command, name);
    ImGui::TableSetColumnIndex(5);
    ImGui::AlignTextToFramePadding();
    frame.ui.text_mono(std::to_string(b.hits));
    frame.ui.tag(name + "/hits", std::to_string(b.hits));
    ImGui::TableNextColumn();
    if (ImGui::SmallButton("\u2715")) frame.actions.command(fmt::format("delete {}", b.number));
    frame.ui.tag(name + "/delete");
    if (ImGui::IsItemHovered()) Ui::tooltip("Delete this breakpoint");
    ImGui::PopID();
  }

  // The place in source terms: `line 61  all_reduce`.
  static std::string where_of(const interp::ProgramView& program, const BreakpointSnapshot& b) {
    if (b.places.empty() || b.places.front() >= program.lines.size()) return {};
    const interp::CodeIndex code = b.places.front();
    if (program.lines[code] == 0) return {};
    std::string text = fmt::format("line {}", program.shown(code).line);
    if (!program.mnemonic(code).empty()) text += fmt::format("  {}", program.mnemonic(code));
    if (b.places.size() > 1) text += fmt::format("  and {} more", b.places.size() - 1);
    return text;
  }

  static void draw_place(Frame& frame, const BreakpointSnapshot& b, const Command* command) {
    std::string place = b.text;
    if (command) {
      Command bare = *command;
      bare.condition.reset();
      bare.ranks = {};
      place = to_string(bare);
      if (place.starts_with("break ")) place.erase(0, 6);
      if (place.starts_with("dprintf ")) place.erase(0, 8);
    }
    if (b.logs) {
      ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().accent);
      frame.ui.text("\u25c6 log");
      ImGui::PopStyleColor();
      frame.ui.tag(fmt::format("breaks/{}/log", b.number), "log");
      ImGui::SameLine();
    }
    if (b.problem.empty()) {
      frame.ui.text_mono(place);
    } else {
      frame.ui.state_word(StateKind::kWaiting, place + "  " + b.problem);
    }
    frame.ui.tag(fmt::format("breaks/{}", b.number), b.text);
    const bool hovered = ImGui::IsItemHovered();
    const bool clicked = ImGui::IsItemClicked();
    if (const std::string where = where_of(*frame.model.snapshot()->program, b); !where.empty()) {
      ImGui::SameLine();
      frame.ui.text_dim(where);
      frame.ui.tag(fmt::format("breaks/{}/where", b.number), where);
    }
    if (!hovered) return;
    Ui::tooltip("%s%s%s", b.text.c_str(), b.problem.empty() ? "" : "\n", b.problem.c_str());
    if (b.places.empty()) return;
    frame.model.hovered.code = b.places.front();
    if (clicked) frame.model.selection.code = b.places.front();
  }

  void draw_fields(Frame& frame, const BreakpointSnapshot& b, const Command& command,
                   const std::string& name) {
    if (const auto text =
            field(frame, name + "/condition", condition_of(command), "always",
                  "Stops only where this holds:\n"
                  "  rank == 3 && seq >= 10          comm == \"c\" && bytes > 1000000\n"
                  "  %y[0, 1] > 0.5                  nan(%y) > 0, max(%y) > 100\n"
                  "  differs(%y) > 0: copies on other ranks have other bits\n"
                  "  memory > 1000000000, kernel == \"f\", stream, iteration, %i == 3\n"
                  "Enter sets it.")) {
      request(frame, fmt::format("condition {} {}", b.number, *text));
    }
    ImGui::TableNextColumn();
    if (const auto text = field(frame, name + "/ranks", ranks_of(command), b.logs ? "all" : "any",
                                b.logs ? kLogRanksHelp : kRanksHelp)) {
      Command bare = command;
      bare.condition.reset();
      bare.ranks = {};
      const std::string condition = condition_of(command);
      const std::string line = to_string(bare) + (text->empty() ? "" : " on " + *text) +
                               (condition.empty() ? "" : " if " + condition);
      if (request(frame, line)) frame.actions.command(fmt::format("delete {}", b.number));
    }
    ImGui::TableNextColumn();
    if (const auto text = field(frame, name + "/ignore", b.ignore ? std::to_string(b.ignore) : "",
                                "0", "Number of stops to skip. Press Enter to set it.")) {
      request(frame, fmt::format("ignore {} {}", b.number, text->empty() ? "0" : *text));
    }
  }

  // A text field in a cell; returns the new text when Enter is pressed. While the field has the
  // focus, it keeps what is being typed.
  std::optional<std::string> field(Frame& frame, const std::string& name, const std::string& shown,
                                   const char* when_empty, const char* help) {
    std::string text = editing_ == name ? edited_ : shown;
    ImGui::SetNextItemWidth(-1);
    ImGui::PushID(name.c_str());
    ImGui::PushStyleColor(ImGuiCol_FrameBg, with_alpha(frame.ui.pal().background, 0.5f));
    const bool entered = ImGui::InputTextWithHint("##field", when_empty, &text,
                                                  ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::PopStyleColor();
    ImGui::PopID();
    frame.ui.tag(name, text);
    if (ImGui::IsItemHovered() && !ImGui::IsItemActive()) Ui::tooltip("%s", help);
    if (ImGui::IsItemActive()) {
      editing_ = name;
      edited_ = text;
    } else if (editing_ == name) {
      editing_.clear();
    }
    if (!entered || text == shown) return std::nullopt;
    return text;
  }

  std::string text_;
  std::string problem_;
  bool waits_for_ = false;  // waiting for the result of the entered command
  size_t known_ = 0;        // number of breakpoints before that command
  bool refocus_ = false;
  std::string editing_;  // name of the focused field
  std::string edited_;
};

}  // namespace

std::unique_ptr<Panel> make_breaks_panel() { return std::make_unique<BreaksPanel>(); }

}  // namespace hostir::gui
