// The program's text: edit it, see its diagnostics, and run it again from the same place.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_internal.h>
#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "gui/draw/find_text.h"
#include "gui/panels/program/code_diff.h"
#include "gui/panels/program/text_marks.h"
#include "gui/state/restart.h"
#include "hostir/text/parse/parser.h"

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
    Document& document = frame.model.document();
    if (document.path().empty()) return frame.ui.empty_hint(hint());
    if (!document.is_program())
      return frame.ui.empty_hint("This is a log, not a program: there is nothing to edit.");
    notice_other_text(document);
    take_open_errors(frame.model);
    bool apply = draw_buttons(frame);
    draw_disk(frame);
    if (document.compared_with()) return draw_comparison(frame);
    const std::optional<TextMark> place = find_.draw(frame, "editor", document.text());
    const float below = diagnostics_height(frame);
    ImGui::PushFont(frame.ui.fonts.mono);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + frame.ui.px(46));
    if (ImGui::InputTextMultiline("##text", &document.typed(), ImVec2(-1, -below - frame.ui.px(4)),
                                  ImGuiInputTextFlags_AllowTabInput))
      check(document);
    const float left = ImGui::GetItemRectMin().x - frame.ui.px(6);
    frame.ui.tag("editor/text");
    // On this very key press the field gives up the keyboard focus, so also accept "just
    // deactivated".
    apply =
        apply || ((ImGui::IsItemActive() || ImGui::IsItemDeactivated()) && ImGui::GetIO().KeyCtrl &&
                  ImGui::IsKeyPressed(ImGui::GetKeyIndex(ImGuiKey_Enter)));
    const std::string& text = document.text();
    draw_line_numbers(frame.ui, "##text", text, marks_, left);
    draw_found(frame.ui, "##text", text, find_.found(), find_.current());
    draw_colours(frame.ui, "##text", text);
    draw_marks(frame.ui, "##text", text, marks_);
    if (const auto line = document.take_wanted_line()) scroll_to_line("##text", *line);
    if (place) scroll_to_line("##text", place->line);
    if (!diagnostics_.empty()) draw_diagnostics(frame, below - frame.ui.px(4));
    ImGui::PopFont();
    if (apply) run(frame);
  }

 private:
  // Detects another file, or a text change other than by typing. An active field has its own copy
  // and would write it back, so deactivate it.
  void notice_other_text(const Document& document) {
    if (document.path() == path_ && document.revision() == revision_) return;
    path_ = document.path();
    revision_ = document.revision();
    if (ImGui::GetActiveID() == ImGui::GetID("##text")) ImGui::ClearActiveID();
    check(document);
  }

  bool draw_buttons(Frame& frame) {
    Document& document = frame.model.document();
    const bool comparing = document.compared_with().has_value();
    const bool changed = document.changed();
    ImGui::BeginDisabled(comparing || (!changed && runs(frame.model, document.text())));
    const bool apply = ImGui::Button("Run this text  Ctrl+Enter");
    ImGui::EndDisabled();
    frame.ui.tag("editor/run");
    ImGui::SameLine();
    ImGui::BeginDisabled(!document.unsaved());
    if (ImGui::Button("Save")) frame.actions.request("file.save");
    frame.ui.tag("editor/save");
    if (ImGui::IsItemHovered()) Ui::tooltip("Ctrl+S; Ctrl+Shift+S saves under another name");
    ImGui::EndDisabled();
    ImGui::SameLine();
    ImGui::BeginDisabled(!changed);
    if (ImGui::Button("Revert")) document.revert();
    frame.ui.tag("editor/revert");
    if (ImGui::IsItemHovered()) Ui::tooltip("Discard the edits: back to the text of the file");
    ImGui::EndDisabled();
    if (!document.mine().empty()) {
      ImGui::SameLine();
      if (ImGui::Button("My text again")) document.take_mine();
      frame.ui.tag("editor/mine");
      if (ImGui::IsItemHovered())
        Ui::tooltip("Bring back your edits, which a newer text has replaced");
    }
    const std::string state = state_words(document);
    Ui::flow(ImGui::CalcTextSize(state.c_str()).x);
    ImGui::AlignTextToFramePadding();
    frame.ui.text_dim(state);
    frame.ui.tag("editor/state", state);
    return apply;
  }

  static std::string state_words(const Document& document) {
    switch (document.disk()) {
      case Document::Disk::kDeleted:
        return "the file was deleted";
      case Document::Disk::kNewer:
        return "changed, and so was the file";
      case Document::Disk::kSame:
        break;
    }
    return document.changed() ? "changed" : "as in the file";
  }

  // True if the run uses this text.
  static bool runs(const Model& model, const std::string& text) {
    if (model.path() != model.document().path()) return false;
    const auto opened = model.opened_text();
    return !opened || *opened == text;
  }

  // Text and file both changed: ask the user which one to keep.
  static void draw_disk(Frame& frame) {
    Document& document = frame.model.document();
    if (document.disk() != Document::Disk::kNewer) return;
    ImGui::PushTextWrapPos(0);
    frame.ui.state_word(StateKind::kWaiting,
                        "The file was changed by another program, and the text here was edited.");
    ImGui::PopTextWrapPos();
    frame.ui.tag("editor/newer");
    const auto button = [&](const char* label, const char* action, const char* name) {
      if (ImGui::Button(label)) frame.actions.request(action);
      frame.ui.tag(name);
      ImGui::SameLine();
    };
    button("Keep mine", "file.keep_mine", "editor/keep_mine");
    button("Take the file's", "file.take_file", "editor/take_file");
    if (!document.compared_with()) button("Compare", "file.compare", "editor/compare");
    ImGui::NewLine();
  }

  // The lines that differ from another text.
  void draw_comparison(Frame& frame) {
    Document& document = frame.model.document();
    const Document::Other& other = *document.compared_with();
    if (other.text != compared_[0] || document.text() != compared_[1]) {
      constexpr size_t kContext = 3;
      compared_[0] = other.text;
      compared_[1] = document.text();
      differences_ = interp::line_diff(compared_[0], compared_[1], kContext);
    }
    if (ImGui::Button("Back to the text")) document.end_comparing();
    frame.ui.tag("editor/compare_end");
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    const std::string title = differences_.empty()
                                  ? "no line differs from " + other.title
                                  : "\u2212 " + other.title + "     + the text here";
    frame.ui.text_dim(title);
    frame.ui.tag("editor/compared", title);
    ImGui::BeginChild("comparison");
    draw_diff_lines(frame, differences_);
    ImGui::EndChild();
    frame.ui.tag_rect("editor/comparison", ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                      diff_text(differences_));
  }

  void check(const Document& document) {
    diagnostics_.clear();
    marks_.clear();
    from_opening_ = false;
    SourceManager sources;
    const uint32_t file = sources.add(document.path(), document.text());
    const text::ParsedFile parsed = text::parse(sources, file);
    const bool negative = document.text().find("expected-error") != std::string::npos;
    if (!negative && !parsed.diagnostics.empty()) {
      diagnostics_ = render(parsed.diagnostics, sources);
      marks_ = marks_of(parsed.diagnostics, sources, file);
    }
  }

  // Takes over errors that only lowering of this very text finds.
  void take_open_errors(const Model& model) {
    const Document& document = model.document();
    if (from_opening_ && model.open_error().empty() && !model.opening()) check(document);
    const interp::OpenRequest& tried = model.last_request();
    const bool same = tried.path == document.path() &&
                      document.text() == (tried.text.empty() ? document.base() : tried.text);
    if (!diagnostics_.empty() || model.open_marks().empty() || !same) return;
    diagnostics_ = model.open_error();
    marks_ = model.open_marks();
    from_opening_ = true;
  }

  // As high as the diagnostics need, up to a fraction of the panel.
  float diagnostics_height(const Frame& frame) const {
    if (diagnostics_.empty()) return 0;
    const auto text_lines =
        static_cast<size_t>(std::count(diagnostics_.begin(), diagnostics_.end(), '\n')) + 1;
    const size_t lines = marks_.empty() ? text_lines : marks_.size();
    const float wanted = frame.ui.fonts.mono->FontSize * 1.3f * static_cast<float>(lines) +
                         ImGui::GetStyle().WindowPadding.y * 2 + ImGui::GetStyle().ScrollbarSize;
    return std::min(wanted, ImGui::GetContentRegionAvail().y * 0.4f) + frame.ui.px(4);
  }

  // One clickable line per diagnostic with a location. Without locations, the rendered text.
  void draw_diagnostics(Frame& frame, float height) {
    ImGui::BeginChild("diagnostics", ImVec2(0, height), true, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().state(StateKind::kMismatch));
    for (size_t i = 0; i < marks_.size(); ++i) {
      const TextMark& mark = marks_[i];
      const std::string line = fmt::format("line {}: {}##{}", mark.line + 1, mark.message, i);
      if (ImGui::Selectable(line.c_str())) frame.model.document().want_line(mark.line);
      frame.ui.tag(fmt::format("editor/diagnostic/{}", i), mark.message);
      if (ImGui::IsItemHovered()) Ui::tooltip("%s\nclick: go to the line", diagnostics_.c_str());
    }
    if (marks_.empty()) ImGui::TextUnformatted(diagnostics_.c_str());
    ImGui::PopStyleColor();
    ImGui::EndChild();
    frame.ui.tag_rect("editor/diagnostics", ImGui::GetItemRectMin(), ImGui::GetItemRectMax(),
                      diagnostics_);
  }

  void run(Frame& frame) {
    Document& document = frame.model.document();
    check(document);
    if (!diagnostics_.empty()) {
      frame.model.add_message(Message::Kind::kError, diagnostics_);
      return;
    }
    document.note_run();
    interp::OpenRequest request = frame.model.last_request();
    request.text = document.text();
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

  std::string path_;       // the text checked last: its file,
  uint64_t revision_ = 0;  // and its revision
  std::string diagnostics_;
  std::vector<TextMark> marks_;
  bool from_opening_ = false;  // the shown diagnostics come from opening, not from parsing the text
  FindText find_;
  std::array<std::string, 2> compared_;
  std::vector<interp::DiffLine> differences_;
};

}  // namespace

std::unique_ptr<Panel> make_editor_panel() { return std::make_unique<EditorPanel>(); }

}  // namespace hostir::gui
