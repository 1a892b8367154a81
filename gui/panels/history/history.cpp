// Every write of an element on every rank, oldest first, with the sources of each value.
#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "gui/panels/history/history_sources.h"
#include "gui/panels/history/past_values.h"
#include "gui/panels/history/write_list.h"
#include "gui/panels/values/tensor_pick.h"
#include "gui/panels/values/value_text.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

// A row of the table: a write, or one of its sources below it.
struct ShownRow {
  size_t write = 0;  // index into the list
  int source = -1;   // index into its sources; -1: the write itself
};

class HistoryPanel : public Panel {
 public:
  std::string_view id() const override { return "history"; }
  std::string_view title() const override { return "History"; }
  std::string_view hint() const override {
    return "Every write of the selected tensor or element, on every rank, in order, and below each "
           "where its value came from: addends and blocks of other ranks, operands of kernels. "
           "Select an element in Values or Layout; click a row to go to its instruction.";
  }

  // The controls, the count, the header and five rows.
  HeightRequest wanted_height(const Frame&) const override {
    constexpr float kRows = 6;
    HeightRequest wanted;
    wanted.fewest =
        ImGui::GetFrameHeightWithSpacing() + (kRows + 1) * ImGui::GetTextLineHeightWithSpacing();
    return wanted;
  }

  void draw(Frame& frame) override {
    pick_tensor(frame, "history/tensor");
    const Selection& s = frame.model.selection;
    ImGui::SameLine();
    std::string what = "all elements";
    if (!s.element.empty()) what = "element " + index_text(s.element);
    frame.ui.text_dim(what);
    frame.ui.tag("history/what", what);
    if (!s.element.empty()) {
      ImGui::SameLine();
      if (ImGui::SmallButton("all")) frame.model.selection.element.clear();
      frame.ui.tag("history/all");
    }
    Ui::flow(frame.ui.px(80));
    ImGui::Checkbox("sources", &show_sources_);
    frame.ui.tag("history/sources", show_sources_ ? "on" : "off");
    if (ImGui::IsItemHovered())
      Ui::tooltip(
          "Below each write: where its value came from.\nIn long lists, only of those that are "
          "expanded (\u25b8).");
    if (s.value != shown_value_ || s.element != shown_element_) opened_.clear();
    shown_value_ = s.value;
    shown_element_ = s.element;
    list_.update(frame.model,
                 {s.value, s.element, frame.model.last_opened(), frame.model.generation()});
    past_.select(frame.model, s.value, s.element);
    if (list_.begun() && list_.size() > 0) draw_count(frame);
    if (!list_.error().empty()) return frame.ui.empty_hint(list_.error());
    if (!list_.begun())
      return frame.ui.empty_hint(s.value.empty() ? std::string(hint()) : "reading the log ...");
    if (list_.size() == 0 && list_.listed()) {
      return frame.ui.empty_hint(list_.known()
                                     ? "Nothing has written it yet. " + std::string(hint())
                                     : std::string(hint()));
    }
    draw_table(frame);
  }

 private:
  static constexpr size_t kFew = 64;  // up to this many writes, all sources are shown by default

  // The number of writes, and how much is still to be read.
  void draw_count(Frame& frame) {
    std::string text = counted(list_.size(), "write");
    if (!list_.listed())
      text += fmt::format(" so far, {:.0f} % of the log searched", list_.share_listed() * 100);
    if (list_.read() < list_.size())
      text += list_.fills()
                  ? fmt::format(", values of {} still to come", list_.size() - list_.read())
                  : fmt::format(", values of {} are read when they are in view",
                                list_.size() - list_.read());
    if (list_.undone() > 0) {
      text += fmt::format(", {} undone (not listed; in Events)", list_.undone());
      frame.ui.say_hidden(fmt::format("{} undone in History",
                                      counted(static_cast<size_t>(list_.undone()), "write")));
    }
    if (std::exchange(later_in_view_, false)) text += "; dim: later than this position";
    frame.ui.text_dim(text);
    frame.ui.tag("history/count", text);
    if (frame.model.selection.element.empty()) return;
    past_.draw(frame, missing_value_);
    missing_value_ = false;
  }

  void draw_table(Frame& frame) {
    sources_.update(frame.model, frame.model.selection.value, frame.model.selection.element);
    const std::vector<std::pair<size_t, size_t>> opened = opened_rows();
    size_t shown = list_.size();
    for (const auto& [write, count] : opened) shown += count;
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_BordersInnerV;
    if (!ImGui::BeginTable("writes", 6, kFlags)) return;
    ImGui::TableSetupScrollFreeze(0, 1);
    for (const char* column : {"time", "rank", "what", "value", "loop", "written by"})
      ImGui::TableSetupColumn(column);
    ImGui::TableHeadersRow();
    size_t first = list_.size();
    size_t last = 0;
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(std::min<size_t>(shown, INT32_MAX)));
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
        const ShownRow row = row_at(opened, static_cast<size_t>(i));
        first = std::min(first, row.write);
        last = std::max(last, row.write);
        draw_row(frame, row, i);
      }
    }
    ImGui::EndTable();
    if (first > last) return;
    list_.want(frame.model, first, last);
    want_sources(frame, first, last);
  }

  // The expanded writes in order, each with its number of source rows.
  std::vector<std::pair<size_t, size_t>> opened_rows() const {
    std::vector<std::pair<size_t, size_t>> out;
    if (!show_sources_) return out;
    for (const size_t write : opened_) {
      if (write >= list_.size()) break;
      if (const auto* rows = sources_.of(list_.place(write))) out.emplace_back(write, rows->size());
    }
    return out;
  }

  static ShownRow row_at(const std::vector<std::pair<size_t, size_t>>& opened, size_t shown) {
    size_t before = 0;  // number of source rows above
    for (const auto& [write, count] : opened) {
      if (shown <= write + before) break;
      if (shown <= write + before + count)
        return {write, static_cast<int>(shown - write - before - 1)};
      before += count;
    }
    return {shown - before, -1};
  }

  void want_sources(Frame& frame, size_t first, size_t last) {
    if (!show_sources_) return;
    if (list_.size() <= kFew && list_.listed()) {
      for (size_t i = 0; i < list_.size(); ++i) opened_.insert(i);
    }
    for (auto write = opened_.lower_bound(first); write != opened_.end() && *write <= last;
         ++write) {
      const WriteRow* row = list_.row(*write);
      if (row && sources_.ask(frame.model, row->write)) return;  // one request at a time
    }
  }

  bool is_open(size_t write) const { return show_sources_ && opened_.contains(write); }

  // True if the write is after the current position: the log may extend beyond it.
  static bool is_later(const Frame& frame, const interp::LogValue& w) {
    const interp::Snapshot& shot = *frame.model.snapshot();
    return shot.no_stepping.empty() && w.event >= 0 && w.decision >= shot.position.decision;
  }

  // True if the rank still holds the value of this write.
  bool is_current(const Frame& frame, size_t write) const {
    const WriteRow* row = list_.row(write);
    if (!row || is_later(frame, row->write)) return false;
    const size_t next = list_.next_of_rank(write);
    if (next == list_.size()) return list_.listed();
    const WriteRow* after = list_.row(next);
    return after && is_later(frame, after->write);
  }

  static std::string summary(const interp::LogValue& w) {
    std::string text = w.element;
    if (text.empty() && w.has_stats)
      text = w.min == w.max ? fmt::format("{:.6g} everywhere", w.min)
                            : fmt::format("{:.4g} .. {:.4g}", w.min, w.max);
    if (w.nan_count + w.inf_count > 0)
      text += fmt::format("  NaN {} Inf {}", w.nan_count, w.inf_count);
    if (text.empty()) text = w.digest ? fmt::format("#{:08x}", w.digest & 0xffffffffu) : "-";
    return text;
  }

  // The element's value: from the log if it kept the data, from the session if the value is
  // current, or from a re-run if the user requested one.
  std::string value_of(Frame& frame, const interp::LogValue& w, const std::string& value,
                       bool current, bool own) {
    const std::vector<int64_t>& element = frame.model.selection.element;
    if (element.empty() || !w.element.empty()) return summary(w);
    if (own) {
      if (std::string past = past_.at(w.event, w.rank); !past.empty()) return past;
    }
    if (!current) {
      missing_value_ = missing_value_ || (own && !(w.has_stats && w.min == w.max));
      return summary(w);
    }
    interp::ValueQuery query;
    query.value = value;
    query.rank = w.rank;
    Box box{element, element};
    for (int64_t& hi : box.hi) ++hi;
    query.box = box;
    const ReadingSlot& slot = frame.model.reading(query);
    if (!slot.reading || slot.reading->undefined || slot.reading->write_in_flight ||
        slot.reading->tensor.element_count() != 1)
      return summary(w);
    return value_text(slot.reading->tensor, 0, ValueFormat::kDecimal);
  }

  void draw_row(Frame& frame, const ShownRow& shown, int i) {
    ImGui::PushID(i);
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (shown.source >= 0) {
      const auto* rows = sources_.of(list_.place(shown.write));
      draw_source(frame, (*rows)[static_cast<size_t>(shown.source)], i);
    } else if (const WriteRow* row = list_.row(shown.write)) {
      draw_write(frame, *row, shown.write, i);
    } else {
      const interp::LogWrite& place = list_.place(shown.write);
      frame.ui.text_dim("...");
      ImGui::TableNextColumn();
      frame.ui.text_dim(fmt::format("r{}", place.rank));
      frame.ui.tag(fmt::format("history/{}", i), "still to come");
    }
    ImGui::PopID();
  }

  void draw_write(Frame& frame, const WriteRow& row, size_t write, int i) {
    const std::string& value = frame.model.selection.value;
    const bool later = is_later(frame, row.write);
    if (later) ImGui::PushStyleVar(ImGuiStyleVar_Alpha, ImGui::GetStyle().Alpha * 0.55f);
    const std::string text = instruction(frame, row.write);
    draw_time(frame, row.write, true, value);
    frame.ui.tag(fmt::format("history/{}", i), " %" + value + "  " + text);
    later_in_view_ = later_in_view_ || later;
    draw_rank(frame, row.write.rank);
    ImGui::TableNextColumn();
    if (show_sources_ && list_.size() > kFew) {
      if (ImGui::SmallButton(is_open(write) ? "\u25be" : "\u25b8")) {
        if (opened_.erase(write) == 0) opened_.insert(write);
      }
      frame.ui.tag(fmt::format("history/{}/open", i), is_open(write) ? "open" : "closed");
      ImGui::SameLine();
    }
    draw_what(frame, "%" + value, true);
    draw_rest(frame, i, value_of(frame, row.write, value, is_current(frame, write), true), row.loop,
              text);
    if (later) ImGui::PopStyleVar();
  }

  void draw_source(Frame& frame, const SourceRow& row, int i) {
    const std::string text =
        row.written ? instruction(frame, row.write) : "none: a parameter, or not in the log";
    draw_time(frame, row.write, row.written, row.value, row.follows);
    frame.ui.tag(fmt::format("history/{}", i), row.relation + " %" + row.value + "  " + text);
    draw_rank(frame, row.write.rank);
    ImGui::TableNextColumn();
    const std::string indent(static_cast<size_t>(row.depth) * 2, ' ');
    draw_what(frame, fmt::format("{}\u2514 {} %{}", indent, row.relation, row.value), false);
    const bool current = row.newest && row.follows && !is_later(frame, row.write);
    draw_rest(frame, i,
              row.written ? value_of(frame, row.write, row.value, current,
                                     row.follows && row.value == frame.model.selection.value)
                          : std::string(),
              row.loop, text);
  }

  static void draw_time(Frame& frame, const interp::LogValue& w, bool written,
                        const std::string& value, bool follows = true) {
    const std::string time = !written ? "-"
                             : w.time_ns == interp::kUnknownNs
                                 ? "in flight"
                                 : fmt::format("{:.3f} us", static_cast<double>(w.time_ns) / 1000);
    const bool selected = written && frame.model.selection.event == w.event;
    if (ImGui::Selectable(
            time.c_str(), selected,
            ImGuiSelectableFlags_SpanAllColumns | ImGuiSelectableFlags_AllowItemOverlap)) {
      if (written) {
        frame.model.selection.event = w.event;
        frame.model.selection.code = w.instruction;
      }
      // Clicking a source with another name switches to the history of that tensor.
      if (frame.model.selection.value != value) {
        frame.model.selection.value = value;
        if (!follows) frame.model.selection.element.clear();
      }
    }
    if (ImGui::IsItemHovered()) frame.model.hovered.rank = w.rank;
  }

  static void draw_rank(const Frame& frame, interp::Rank rank) {
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().rank(rank));
    frame.ui.text(fmt::format("r{}", rank));
    ImGui::PopStyleColor();
  }

  static void draw_what(const Frame& frame, const std::string& what, bool strong) {
    const Palette& p = frame.ui.pal();
    ImGui::PushFont(frame.ui.fonts.mono);
    ImGui::PushStyleColor(ImGuiCol_Text, strong ? p.text_strong : p.text_dim);
    frame.ui.text(what);
    ImGui::PopStyleColor();
    ImGui::PopFont();
  }

  static void draw_rest(Frame& frame, int i, const std::string& value, const std::string& loop,
                        const std::string& written_by) {
    ImGui::TableNextColumn();
    frame.ui.text_mono(value);
    frame.ui.tag(fmt::format("history/{}/value", i), value);
    ImGui::TableNextColumn();
    frame.ui.text_mono(loop);
    ImGui::TableNextColumn();
    frame.ui.text_mono(written_by);
  }

  const std::string& instruction(Frame& frame, const interp::LogValue& w) {
    return sources_.instruction(frame.model, w.instruction);
  }

  bool show_sources_ = true;
  bool later_in_view_ = false;
  bool missing_value_ = false;  // a visible row has no element value
  WriteList list_;
  HistorySources sources_;
  PastValues past_;
  std::set<size_t> opened_;  // indices of the writes whose sources are shown
  std::string shown_value_;
  std::vector<int64_t> shown_element_;
};

}  // namespace

std::unique_ptr<Panel> make_history_panel() { return std::make_unique<HistoryPanel>(); }

}  // namespace hostir::gui
