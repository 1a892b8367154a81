// The program's text: edit it, see its diagnostics, run it again from the same place.
#include <fmt/core.h>
#include <imgui.h>
// after imgui.h, which it needs
#include <imgui_stdlib.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "gui/panels/panels.h"
#include "gui/panels/text_marks.h"
#include "gui/restart.h"
#include "hostir/io/files.h"
#include "hostir/text/parser.h"

namespace hostir::gui {

namespace {

class EditorPanel : public Panel {
 public:
  std::string_view id() const override { return "editor"; }
  std::string_view title() const override { return "Edit"; }
  std::string_view hint() const override {
    return "The text of the program. Edit it and press Ctrl+Enter: it is checked, lowered and "
           "started again; what is wrong "
           "is shown below, the running session stays as it is.";
  }
  bool needs_session() const override { return false; }

  void draw(Frame& frame) override {
    const std::string& path = frame.model.last_request().path;
    if (path.empty()) return frame.ui.empty_hint(hint());
    if (path != loaded_path_) load(path);
    if (!is_program_)
      return frame.ui.empty_hint("This is a log, not a program: there is nothing to edit.");
    take_proposed(frame.model);
    take_open_errors(frame.model);
    const bool changed = text_ != saved_;
    ImGui::BeginDisabled(!changed && checked_);
    bool apply = ImGui::Button("Run this text  Ctrl+Enter");
    ImGui::EndDisabled();
    frame.ui.tag("editor/run");
    ImGui::SameLine();
    ImGui::BeginDisabled(!changed);
    if (ImGui::Button("Save")) save_file(frame);
    frame.ui.tag("editor/save");
    ImGui::SameLine();
    if (ImGui::Button("Revert")) text_ = saved_;
    frame.ui.tag("editor/revert");
    ImGui::EndDisabled();
    if (!replaced_.empty()) {
      ImGui::SameLine();
      if (ImGui::Button("My text again")) {
        text_ = std::exchange(replaced_, {});
        check();
      }
      frame.ui.tag("editor/mine");
      if (ImGui::IsItemHovered())
        ImGui::SetTooltip("What you had typed here before a proposed text took its place");
    }
    ImGui::SameLine();
    frame.ui.text_dim(changed ? "changed" : "as in the file");
    frame.ui.tag("editor/state", changed ? "changed" : "as in the file");
    const float below = diagnostics_height(frame);
    ImGui::PushFont(frame.ui.fonts.mono);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + frame.ui.px(46));
    if (ImGui::InputTextMultiline("##text", &text_, ImVec2(-1, -below - frame.ui.px(4)),
                                  ImGuiInputTextFlags_AllowTabInput))
      check();
    const float left = ImGui::GetItemRectMin().x - frame.ui.px(6);
    frame.ui.tag("editor/text");
    // The field lets go of the keyboard at this very key.
    apply =
        apply || ((ImGui::IsItemActive() || ImGui::IsItemDeactivated()) && ImGui::GetIO().KeyCtrl &&
                  ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter)));
    draw_line_numbers(frame.ui, "##text", text_, marks_, left);
    draw_colours(frame.ui, "##text", text_);
    draw_marks(frame.ui, "##text", text_, marks_);
    if (const auto line = std::exchange(wanted_line_, std::nullopt))
      scroll_to_line("##text", *line);
    if (!diagnostics_.empty()) draw_diagnostics(frame, below - frame.ui.px(4));
    ImGui::PopFont();
    if (apply) run(frame);
  }

 private:
  void load(const std::string& path) {
    loaded_path_ = path;
    const auto text = io::read_file(path);
    is_program_ = text.has_value() && text->find('\0') == std::string::npos;
    text_ = saved_ = is_program_ ? *text : std::string();
    check();
  }

  void check() {
    diagnostics_.clear();
    marks_.clear();
    checked_ = true;
    from_opening_ = false;
    if (!is_program_) return;
    SourceManager sources;
    const uint32_t file = sources.add(loaded_path_, text_);
    const text::ParsedFile parsed = text::parse(sources, file);
    bool negative = text_.find("expected-error") != std::string::npos;
    if (!negative && !parsed.diagnostics.empty()) {
      diagnostics_ = render(parsed.diagnostics, sources);
      marks_ = marks_of(parsed.diagnostics, sources, file);
    }
  }

  // A text that another panel proposes. What was typed and is in no file is kept for a way back.
  void take_proposed(Model& model) {
    if (!model.editor_text) return;
    if (text_ != saved_ && text_ != model.last_request().text) replaced_ = text_;
    text_ = std::move(model.editor_text->text);
    wanted_line_ = model.editor_text->line > 0 ? model.editor_text->line - 1 : 0;
    model.editor_text.reset();
    check();
  }

  // What only lowering finds out about this very text.
  void take_open_errors(const Model& model) {
    if (from_opening_ && model.open_error().empty() && !model.opening()) check();
    const interp::OpenRequest& tried = model.last_request();
    const bool same =
        tried.path == loaded_path_ && text_ == (tried.text.empty() ? saved_ : tried.text);
    if (!diagnostics_.empty() || model.open_marks().empty() || !same) return;
    diagnostics_ = model.open_error();
    marks_ = model.open_marks();
    from_opening_ = true;
  }

  // As much as there is to say, up to a part of the panel.
  float diagnostics_height(const Frame& frame) const {
    if (diagnostics_.empty()) return 0;
    const auto text_lines =
        static_cast<size_t>(std::count(diagnostics_.begin(), diagnostics_.end(), '\n')) + 1;
    const size_t lines = marks_.empty() ? text_lines : marks_.size();
    const float wanted = frame.ui.fonts.mono->FontSize * 1.3f * static_cast<float>(lines) +
                         ImGui::GetStyle().WindowPadding.y * 2 + ImGui::GetStyle().ScrollbarSize;
    return std::min(wanted, ImGui::GetContentRegionAvail().y * 0.4f) + frame.ui.px(4);
  }

  // A line for each that has a place: a click goes there. The others as they are rendered.
  void draw_diagnostics(Frame& frame, float height) {
    ImGui::BeginChild("diagnostics", ImVec2(0, height), true, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().state(StateKind::kMismatch));
    for (size_t i = 0; i < marks_.size(); ++i) {
      const TextMark& mark = marks_[i];
      const std::string line = fmt::format("line {}: {}##{}", mark.line + 1, mark.message, i);
      if (ImGui::Selectable(line.c_str())) wanted_line_ = mark.line;
      frame.ui.tag(fmt::format("editor/diagnostic/{}", i), mark.message);
      if (ImGui::IsItemHovered())
        ImGui::SetTooltip("%s\nclick: go to the line", diagnostics_.c_str());
    }
    if (marks_.empty()) ImGui::TextUnformatted(diagnostics_.c_str());
    ImGui::PopStyleColor();
    ImGui::EndChild();
    frame.ui.tag_rect("editor/diagnostics", ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                      diagnostics_);
  }

  void run(Frame& frame) {
    check();
    if (!diagnostics_.empty()) {
      frame.model.add_message(Message::Kind::kError, diagnostics_);
      return;
    }
    interp::OpenRequest request = frame.model.last_request();
    request.text = text_;
    std::vector<std::string> then;
    const interp::SnapshotPtr& shot = frame.model.snapshot();
    if (shot) {
      request.breakpoints.clear();
      for (const interp::BreakpointSnapshot& b : *shot->breakpoints)
        request.breakpoints.push_back(b.text);
      then = commands_back_to(*shot);
    }
    frame.model.open(std::move(request), std::move(then));
  }

  void save_file(Frame& frame) {
    const auto written = io::write_file(loaded_path_, text_);
    if (written) {
      saved_ = text_;
      frame.model.saved_file(loaded_path_);
      frame.model.add_message(Message::Kind::kGood, "saved " + loaded_path_);
    } else {
      frame.model.add_message(Message::Kind::kError, written.error().message());
    }
  }

  std::string loaded_path_;
  std::string text_;
  std::string saved_;
  std::string replaced_;  // typed by hand, before a proposed text took its place
  std::string diagnostics_;
  std::vector<TextMark> marks_;
  std::optional<size_t> wanted_line_;  // 0-based; to be scrolled to
  bool is_program_ = false;
  bool checked_ = false;
  bool from_opening_ = false;  // what is shown was found by opening, not by reading the text
};

}  // namespace

std::unique_ptr<Panel> make_editor_panel() { return std::make_unique<EditorPanel>(); }

}  // namespace hostir::gui
