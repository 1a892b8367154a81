// The running program, line by line: breakpoints in the gutter, and a dot per rank at its program
// counter.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gui/draw/find_text.h"
#include "gui/panels/program/code_text.h"
#include "gui/panels/program/inline_values.h"
#include "gui/panels/program/line_costs.h"
#include "gui/panels/program/line_menu.h"
#include "gui/panels/program/rank_marks.h"
#include "gui/panels/program/user_lines.h"
#include "gui/panels/waits/rank_text.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
// must follow imgui.h
#include <imgui_internal.h>

namespace hostir::gui {

namespace {

// `209000` has no room in the column: `209k`.
std::string hits_text(int64_t hits) {
  if (hits < 100'000) return std::to_string(hits);
  const auto n = static_cast<double>(hits);
  return hits < 10'000'000 ? fmt::format("{:.0f}k", n / 1e3) : fmt::format("{:.0f}M", n / 1e6);
}

class HostIrPanel : public Panel {
 public:
  std::string_view id() const override { return "host_ir"; }
  std::string_view title() const override { return "Host IR"; }
  std::string_view hint() const override {
    return "The host program of every rank. Click left of a line for a breakpoint; coloured dots "
           "are the ranks' program counters, \u25d4 the work at the head of their streams.";
  }

  void draw(Frame& frame) override {
    const interp::Snapshot& shot = *frame.model.snapshot();
    if (program_ != shot.program.get()) index_program(*shot.program);
    index_positions(shot);
    marks_.index(frame.model.snapshot());
    header(frame, shot);
    const std::optional<TextMark> place = find_.draw(frame, "host_ir", shot.program->text());
    costs_ = line_costs_.get(frame);
    lay_out_columns(frame);
    ImGui::BeginChild("text", ImVec2(0, 0), false, ImGuiWindowFlags_HorizontalScrollbar);
    ImGui::PushFont(frame.ui.fonts.mono);
    // Rows have no spacing, so that a line's position is its number times the row height.
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, ImVec2(0, 0));
    const float row = ImGui::GetTextLineHeight() + frame.ui.px(4);
    follow(shot, frame.model.selection, row);
    if (place) bring_into_view(static_cast<int>(place->line), row);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(lines_.size()), row);
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) draw_row(frame, shot, i, row);
    }
    // The first line in view is whole, also at the end.
    const ImRect view = ImGui::GetCurrentWindow()->InnerRect;
    ImGui::Dummy(ImVec2(1, std::fmod(view.GetHeight(), row)));
    frame.ui.tag_rect("host_ir/view", view.Min, view.Max);
    const float whole = row * std::round(ImGui::GetScrollY() / row);
    if (std::fabs(whole - ImGui::GetScrollY()) >= 1) ImGui::SetScrollY(whole);
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ImGui::EndChild();
  }

 private:
  void index_program(const interp::ProgramView& program) {
    program_ = &program;
    lines_.clear();
    longest_ = 0;
    code_of_line_.clear();
    const std::string_view text = program.text();
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      lines_.push_back(text.substr(begin, end - begin));
      longest_ = std::max(longest_, lines_.back().size());
      begin = end + 1;
    }
    numbers_ = user_lines(program, lines_);
    for (size_t code = 0; code < program.lines.size(); ++code) {
      code_of_line_.emplace(static_cast<int>(program.lines[code]) - 1,
                            static_cast<interp::CodeIndex>(code));
    }
  }

  void index_positions(const interp::Snapshot& shot) {
    breaks_at_.clear();
    logs_at_.clear();
    for (const interp::BreakpointSnapshot& b : *shot.breakpoints) {
      for (const interp::CodeIndex code : b.places) {
        if (code < shot.program->lines.size())
          (b.logs ? logs_at_ : breaks_at_)[static_cast<int>(shot.program->lines[code]) - 1] = &b;
      }
    }
  }

  void header(Frame& frame, const interp::Snapshot& shot) {
    const interp::RankSnapshot& rank = shot.rank(shot.focus);
    const std::string stream = stream_text(shot, shot.focus);
    std::string where =
        !rank.address.empty() ? fmt::format("r{} at {} {}", shot.focus, rank.address, rank.op)
        : stream.empty()
            ? fmt::format("r{}: the record does not say where its host is", shot.focus)
            : fmt::format("r{}: the record does not say where its host is; {}", shot.focus, stream);
    if (rank.status == interp::RankStatus::kDone)
      where = !stream.empty() ? fmt::format("r{} has returned; {}", shot.focus, stream)
              : rank.outstanding() > 0
                  ? fmt::format("r{} has returned; its streams have {} left to do", shot.focus,
                                rank.outstanding())
              : shot.no_stepping.empty() ? fmt::format("r{} has returned", shot.focus)
                                         : std::string("a recorded run");
    for (const interp::FrameSnapshot& f : rank.frames) {
      where += f.kind == interp::FrameSnapshot::Kind::kLoop
                   ? fmt::format("   %{} = {}", f.variable, f.iteration)
                   : fmt::format("   in @{}", f.variable);
    }
    ImGui::PushTextWrapPos(0);
    frame.ui.text_dim(where);
    ImGui::PopTextWrapPos();
    frame.ui.tag("host_ir/where", where);
    if (rank.waits) {
      ImGui::PushTextWrapPos(0);
      frame.ui.state_word(StateKind::kWaiting, rank.waits->sentence);
      ImGui::PopTextWrapPos();
    }
  }

  // Scrolls to the focus rank's line, once per move.
  void follow(const interp::Snapshot& shot, const Selection& selection, float row) {
    follow_rank(shot, row);
    // Also scroll to a selection made in another panel.
    if (selection.code == followed_code_) return;
    followed_code_ = selection.code;
    if (selection.code && *selection.code < shot.program->lines.size())
      bring_into_view(static_cast<int>(shot.program->lines[*selection.code]) - 1, row);
  }

  static void bring_into_view(int line, float row) {
    const float y = static_cast<float>(line) * row;
    const float top = ImGui::GetScrollY();
    const float height = ImGui::GetWindowHeight();
    if (y < top + row || y > top + height - 3 * row)
      ImGui::SetScrollY(row * std::floor(std::max(0.0f, y - height * 0.4f) / row));  // whole lines
  }

  void follow_rank(const interp::Snapshot& shot, float row) {
    const interp::RankSnapshot& rank = shot.rank(shot.focus);
    const bool moved =
        !(followed_ == shot.position) || followed_rank_ != shot.focus || ImGui::IsWindowAppearing();
    if (moved) follow_frames_ = 4;  // the panel's height settles over a few frames after opening
    if (follow_frames_ <= 0 || rank.code >= shot.program->lines.size()) return;
    --follow_frames_;
    if (ImGui::GetIO().MouseWheel != 0) follow_frames_ = 0;
    followed_ = shot.position;
    followed_rank_ = shot.focus;
    const interp::RankWait* wait = is_known(rank) ? nullptr : stream_wait(*shot.waits, rank.rank);
    const interp::CodeIndex at = wait ? wait->from_code : rank.code;
    if (at < shot.program->lines.size())
      bring_into_view(static_cast<int>(shot.program->lines[at]) - 1, row);
  }

  // Other tools' files say which calls a rank made, not where its host is.
  static bool is_known(const interp::RankSnapshot& rank) {
    return rank.status != interp::RankStatus::kUnknown || !rank.address.empty();
  }

  void draw_row(Frame& frame, const interp::Snapshot& shot, int i, float row) {
    const Palette& p = frame.ui.pal();
    ImDrawList* list = ImGui::GetWindowDrawList();
    const auto code = code_of_line_.find(i);
    const bool has_code = code != code_of_line_.end();
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float gutter = frame.ui.px(18);
    const float dots = marks_.width(frame.ui);
    const float number = frame.ui.px(34);
    const float text_width = ImGui::CalcTextSize("m").x * static_cast<float>(longest_ + 2);
    const float beside = ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - columns_.value;
    const float width = std::max(ImGui::GetContentRegionAvail().x + ImGui::GetScrollX(),
                                 gutter + dots + number + text_width + beside);
    const interp::RankSnapshot& rank = shot.rank(shot.focus);
    const bool focus_here = has_code && rank.code == code->second && is_known(rank) &&
                            rank.status != interp::RankStatus::kDone;
    const bool selected = has_code && frame.model.selection.code == code->second;
    const bool hovered =
        has_code &&
        (frame.model.was_hovered.code == code->second ||
         contains(frame.model.was_hovered.related, code->second) ||
         (contains(frame.model.selection.related, code->second) && frame.model.selection.code &&
          contains(frame.model.selection.related, *frame.model.selection.code)));
    const ImVec2 end(at.x + width, at.y + row);
    if (focus_here) list->AddRectFilled(ImVec2(at.x + gutter, at.y), end, p.current_line);
    if (selected)
      list->AddRectFilled(ImVec2(at.x + gutter, at.y), end, with_alpha(p.accent, 0.22f));
    if (hovered) list->AddRectFilled(ImVec2(at.x + gutter, at.y), end, with_alpha(p.accent, 0.10f));

    const std::string value = has_code ? values_.text(frame, code->second) : std::string();
    const float limit = end_of_code(has_code ? &code->second : nullptr, value);

    ImGui::PushID(i);
    // The dots and the number belong to the target: the disc alone is hard to hit.
    const float target = gutter + dots + number;
    ImGui::InvisibleButton("gutter", ImVec2(target, row));
    ImGui::OpenPopupOnItemClick("menu");
    frame.ui.tag(fmt::format("host_ir/gutter/{}", i + 1));
    const auto found = breaks_at_.find(i);
    const ImVec2 centre(at.x + gutter / 2, at.y + row / 2);
    if (found != breaks_at_.end()) {
      if (found->second->enabled) {
        list->AddCircleFilled(centre, row * 0.3f, p.breakpoint);
      } else {
        list->AddCircle(centre, row * 0.3f, p.breakpoint);
      }
    } else if (has_code && ImGui::IsItemHovered()) {
      list->AddCircle(centre, row * 0.3f, with_alpha(p.breakpoint, 0.6f));
    }
    const auto logs = logs_at_.find(i);
    if (logs != logs_at_.end()) {
      // Next to a breakpoint it is small, at the corner of the disc.
      const bool both = found != breaks_at_.end();
      const ImVec2 middle = both ? ImVec2(centre.x + row * 0.26f, centre.y + row * 0.2f) : centre;
      draw_log_mark(frame, list, middle, row * (both ? 0.24f : 0.36f), *logs->second, i);
    }
    if (has_code && ImGui::IsItemHovered() && GImGui->HoveredIdTimer > 0.4f)
      Ui::tooltip(
          "%s%s%s",
          found != breaks_at_.end() ? "click: delete this breakpoint" : "click: break here (F9)",
          logs != logs_at_.end() ? "\n" : "",
          logs != logs_at_.end() ? logs->second->text.c_str() : "");
    if (ImGui::IsItemClicked() && has_code)
      toggle(frame, shot, code->second, found == breaks_at_.end() ? nullptr : found->second);
    ImGui::SameLine(0, 0);
    ImGui::InvisibleButton("line", ImVec2(width - target, row));
    if (hovered) frame.ui.tag(fmt::format("host_ir/lit/{}", i + 1));
    frame.ui.tag(fmt::format("host_ir/line/{}", i + 1), lines_[static_cast<size_t>(i)]);
    if (ImGui::IsItemHovered() && has_code) {
      frame.model.hovered.code = code->second;
      const float end_of_text =
          at.x + gutter + dots + number +
          ImGui::CalcTextSize("m").x * static_cast<float>(lines_[static_cast<size_t>(i)].size());
      if (end_of_text > limit) whole_line(frame, i);
    }
    if (ImGui::IsItemClicked() && has_code)
      select(frame, at, gutter + dots + number, i, code->second);
    menu_.draw(frame, shot, has_code ? &code->second : nullptr);
    ImGui::PopID();

    marks_.draw(frame, list, i, ImVec2(at.x + gutter, at.y), dots, row);
    const UserLine& from = numbers_[static_cast<size_t>(i)];
    const std::string n = from.line > 0 ? fmt::format("{:>3}", from.line) : "";
    frame.ui.draw_text(list, ImVec2(at.x + gutter + dots, at.y + 1),
                       from.generated ? with_alpha(p.text_dim, 0.5f) : p.text_dim, n, number,
                       frame.ui.fonts.mono);
    frame.ui.tag_rect(fmt::format("host_ir/number/{}", i + 1), ImVec2(at.x + gutter + dots, at.y),
                      ImVec2(at.x + target, at.y + row), n);
    draw_found(frame, list, i, ImVec2(at.x + gutter + dots + number, at.y), row);
    draw_code(frame, list, i, ImVec2(at.x + gutter + dots + number, at.y + 1), limit);
    if (has_code) draw_columns(frame, list, code->second, value, i, at.y, row);
  }

  // A diamond marks a log point, which writes a line without stopping the run.
  static void draw_log_mark(Frame& frame, ImDrawList* list, ImVec2 centre, float r,
                            const interp::BreakpointSnapshot& b, int i) {
    const Palette& p = frame.ui.pal();
    const ImVec2 top(centre.x, centre.y - r), right(centre.x + r, centre.y);
    const ImVec2 bottom(centre.x, centre.y + r), left(centre.x - r, centre.y);
    if (b.enabled) list->AddQuadFilled(top, right, bottom, left, p.accent);
    list->AddQuad(top, right, bottom, left, b.enabled ? p.background : p.accent, 1.5f);
    frame.ui.tag_rect(fmt::format("host_ir/log/{}", i + 1), ImVec2(left.x, top.y),
                      ImVec2(right.x, bottom.y), b.text);
  }

  // Shows the full line in a tooltip while the mouse rests on it, wrapped to half the window.
  void whole_line(Frame& frame, int i) const {
    if (GImGui->HoveredIdTimer < 0.4f) return;
    ImGui::BeginTooltip();
    ImGui::PushTextWrapPos(ImGui::GetIO().DisplaySize.x / 2);
    frame.ui.text_mono(trimmed(lines_[static_cast<size_t>(i)]));
    ImGui::PopTextWrapPos();
    ImGui::EndTooltip();
  }

  // Where the line's text must end: it may use columns that are empty on this line.
  float end_of_code(const interp::CodeIndex* code, const std::string& value) const {
    const bool costs =
        code && columns_.hits > 0 && costs_ && *code < costs_->size() && (*costs_)[*code].hits > 0;
    if (!value.empty()) return columns_.value;
    return costs ? columns_.costs : columns_.right;
  }

  void draw_found(const Frame& frame, ImDrawList* list, int line, ImVec2 at, float row) const {
    const float glyph_width = ImGui::CalcTextSize("m").x;
    for (const TextMark& mark : find_.found()) {
      if (static_cast<int>(mark.line) != line) continue;
      const bool current = &mark == find_.current();
      list->AddRectFilled(ImVec2(at.x + glyph_width * static_cast<float>(mark.begin), at.y),
                          ImVec2(at.x + glyph_width * static_cast<float>(mark.end), at.y + row),
                          with_alpha(frame.ui.pal().playhead, current ? 0.6f : 0.25f));
    }
  }

  // Draws the text up to `limit`; an ellipsis marks clipped text, which can be scrolled into view.
  void draw_code(Frame& frame, ImDrawList* list, int i, ImVec2 at, float limit) {
    const Palette& p = frame.ui.pal();
    const float dots = ImGui::CalcTextSize("\u2026").x;
    float x = at.x;
    for (const CodePiece& piece : colour_line(lines_[static_cast<size_t>(i)], p)) {
      const char* begin = piece.text.data();
      const float width = ImGui::CalcTextSize(begin, begin + piece.text.size()).x;
      const float space = limit - dots - x;
      if (width > space) {
        frame.ui.draw_text(list, ImVec2(x, at.y), piece.colour, piece.text, std::max(0.0f, space),
                           frame.ui.fonts.mono);
        list->AddText(ImVec2(limit - dots, at.y), p.text_dim, "\u2026");
        return;
      }
      list->AddText(ImVec2(x, at.y), piece.colour, begin, begin + piece.text.size());
      x += width;
    }
  }

  // Drawn at the right edge of the visible area, independent of horizontal scrolling: passes, time,
  // and the value last written by the line.
  void draw_columns(Frame& frame, ImDrawList* list, interp::CodeIndex code,
                    const std::string& value, int i, float y, float row) {
    const Palette& p = frame.ui.pal();
    ImFont* font = frame.ui.fonts.small;
    const ImVec2 text_at(0, y + (row - font->FontSize) / 2);
    const auto right_aligned = [&](float right, const std::string& text, ImU32 colour) {
      const float width = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text.c_str()).x;
      frame.ui.draw_text(list, ImVec2(right - width, text_at.y), colour, text, width + 1, font);
    };
    if (columns_.hits > 0 && costs_ && code < costs_->size() && (*costs_)[code].hits > 0) {
      const LineCost& cost = (*costs_)[code];
      const std::string hits = hits_text(cost.hits);
      right_aligned(columns_.hits, hits, p.text);
      frame.ui.tag_rect(fmt::format("host_ir/hits/{}", i + 1), ImVec2(columns_.costs, y),
                        ImVec2(columns_.hits, y + row), std::to_string(cost.hits));
      const std::string time = time_text(static_cast<double>(cost.busy_ns));
      if (slowest_ns_ > 0) {
        const float share = static_cast<float>(cost.busy_ns) / static_cast<float>(slowest_ns_);
        const float left = columns_.hits + frame.ui.px(6);
        list->AddRectFilled(ImVec2(left, y + 2),
                            ImVec2(left + (columns_.time - left) * share, y + row - 2),
                            with_alpha(p.accent, 0.28f));
      }
      right_aligned(columns_.time, time, p.text);
      frame.ui.tag_rect(fmt::format("host_ir/time/{}", i + 1), ImVec2(columns_.hits, y),
                        ImVec2(columns_.time, y + row), time);
    }
    if (value.empty() || columns_.costs - columns_.value < frame.ui.px(40)) return;
    const float x = columns_.value + frame.ui.px(6);
    frame.ui.draw_elided(list, ImVec2(x, text_at.y), p.text, value,
                         columns_.costs - x - frame.ui.px(4), font);
    frame.ui.tag_rect(fmt::format("host_ir/value/{}", i + 1), ImVec2(x, y),
                      ImVec2(columns_.costs, y + row), value);
  }

  // A narrow panel drops the values first, then the costs.
  void lay_out_columns(Frame& frame) {
    const float left = ImGui::GetCursorScreenPos().x;
    const float width = ImGui::GetContentRegionAvail().x;
    columns_.right = left + width - frame.ui.px(18);
    columns_.time = columns_.right;
    columns_.hits = width > frame.ui.px(330) ? columns_.time - frame.ui.px(56) : 0;
    columns_.costs = columns_.hits > 0 ? columns_.hits - frame.ui.px(30) : columns_.right;
    columns_.value = columns_.costs - (width > frame.ui.px(460) ? frame.ui.px(104) : 0);
    slowest_ns_ = 0;
    if (costs_) {
      for (const LineCost& cost : *costs_) slowest_ns_ = std::max(slowest_ns_, cost.busy_ns);
    }
    if (columns_.hits == 0) return;
    ImFont* font = frame.ui.fonts.small;
    const float y = ImGui::GetCursorScreenPos().y;
    ImGui::Dummy(ImVec2(1, font->FontSize + frame.ui.px(2)));
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImU32 dim = frame.ui.pal().text_dim;
    const auto title = [&](float from, float to, const char* text, const char* help) {
      const float width_of = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, text).x;
      frame.ui.draw_text(list, ImVec2(to - width_of, y), dim, text, width_of + 1, font);
      if (ImGui::IsMouseHoveringRect(ImVec2(from, y), ImVec2(to, y + font->FontSize)))
        Ui::tooltip("%s", help);
    };
    title(columns_.costs, columns_.hits, "hits",
          "How often the focus rank has passed this line, up to where it is");
    title(columns_.hits, columns_.time, "time",
          "Time of the line on the focus rank's stream, else on its host");
    const float value = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, "last value").x;
    if (columns_.costs > columns_.value)
      title(columns_.value, columns_.value + frame.ui.px(6) + value, "last value",
            "What this line wrote last on the focus rank: its value, or smallest .. largest");
  }

  // Clicking a name also selects the value, so that all panels show it.
  void select(Frame& frame, ImVec2 at, float text_x, int i, interp::CodeIndex code) {
    frame.model.selection.code = code;
    const float glyph_width = ImGui::CalcTextSize("m").x;
    const float offset = ImGui::GetIO().MousePos.x - (at.x + text_x);
    if (offset < 0) return;
    const std::string_view name =
        name_at(lines_[static_cast<size_t>(i)], static_cast<size_t>(offset / glyph_width));
    if (!name.empty() && name.front() == '%')
      frame.model.selection.value = std::string(name.substr(1));
  }

  static void toggle(Frame& frame, const interp::Snapshot& shot, interp::CodeIndex code,
                     const interp::BreakpointSnapshot* existing) {
    frame.actions.command(existing ? fmt::format("delete {}", existing->number)
                                   : "break " + shot.program->address(code));
  }

  // Left edges of the value and the costs; right edges of hits, time and the whole area; in screen
  // pixels. Most lines have no value, so the value comes before the costs and text may extend into
  // its column.
  struct Columns {
    float value = 0, costs = 0, hits = 0, time = 0, right = 0;  // hits 0: no costs
  };

  InlineValues values_;
  LineCosts line_costs_;
  const std::vector<LineCost>* costs_ = nullptr;
  int64_t slowest_ns_ = 0;
  Columns columns_;
  size_t longest_ = 0;  // length of the longest line, in characters
  const interp::ProgramView* program_ = nullptr;
  std::vector<std::string_view> lines_;
  std::vector<UserLine> numbers_;
  std::multimap<int, interp::CodeIndex> code_of_line_;
  RankMarks marks_;
  std::map<int, const interp::BreakpointSnapshot*> breaks_at_;
  std::map<int, const interp::BreakpointSnapshot*> logs_at_;
  LineMenu menu_;
  FindText find_;
  interp::Position followed_{~uint64_t{0}, 0};
  interp::Rank followed_rank_ = interp::kNoRank;
  int follow_frames_ = 0;
  std::optional<interp::CodeIndex> followed_code_;
};

}  // namespace

std::unique_ptr<Panel> make_host_ir_panel() { return std::make_unique<HostIrPanel>(); }

}  // namespace hostir::gui
