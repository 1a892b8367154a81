// Contents of a tensor: assembled from its shards, or as held by one rank. NaN and Inf are
// highlighted, and elements that changed since the last stop are marked.
#include <fmt/core.h>
#include <imgui.h>
// must follow imgui.h
#include <imgui_stdlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "gui/panels/layout/written.h"
#include "gui/panels/values/tensor_pick.h"
#include "gui/panels/values/value_grid.h"
#include "gui/panels/values/value_ranks.h"
#include "gui/panels/values/value_statistics.h"
#include "gui/panels/values/value_text.h"
#include "hostir/ir/inline_value.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

class ValuesPanel : public Panel {
 public:
  std::string_view id() const override { return "values"; }
  std::string_view title() const override { return "Values"; }
  std::string_view hint() const override {
    return "Contents of a tensor: whole, as one rank holds it, or all ranks side by side. Click an "
           "element to follow its history; what changed since the last stop is marked.";
  }

  // A small tensor leaves the rest of the height to the panels below.
  HeightRequest wanted_height(const Frame& frame) const override {
    HeightRequest wanted;
    if (from_ != kSideBySide) wanted = HeightRequest::some(std::max(height_, fewest_height(frame)));
    wanted.fewest = fewest_height(frame);
    return wanted;
  }

  void draw(Frame& frame) override {
    width_ = ImGui::GetContentRegionAvail().x;
    compact_ =
        ImGui::GetWindowHeight() < height_with(frame, control_lines(frame)) + frame.ui.px(50);
    const TensorView& tensor =
        compact_ ? tensor_combo(frame, "values/tensor") : pick_tensor(frame, "values/tensor");
    if (!tensor.valid()) {
      const std::string absent = absent_text(*frame.model.snapshot(), tensor.name);
      frame.ui.empty_hint(absent.empty() ? std::string(hint()) : absent);
      return frame.ui.tag("values/absent", absent);
    }
    if (compact_) {
      compact_controls(frame, tensor);
    } else {
      choose_from(frame);
      choose_form(frame);
      go_to_element(frame, tensor);
      change_element(frame, tensor);
    }
    if (!typing_ && ImGui::IsWindowFocused(ImGuiFocusedFlags_ChildWindows) &&
        !ImGui::IsAnyItemActive())
      nudge(frame, tensor);
    if (from_ == kSideBySide) return draw_value_ranks(frame, tensor, format_);
    if (std::exchange(written_of_, {frame.model.generation(), tensor.name}) !=
        std::pair(frame.model.generation(), tensor.name)) {
      written_ = written_ranks(*frame.model.snapshot(), tensor);
      there_.clear();
    }
    if (nothing_written(frame, tensor)) return;
    const interp::ValueQuery query = make_query(frame, tensor);
    if (!query.box)
      return frame.ui.empty_hint(fmt::format("rank {} does not hold %{}", query.rank, tensor.name));
    const ReadingSlot& slot = frame.model.reading(query);
    if (!slot.error.empty()) return frame.ui.empty_hint(slot.error);
    if (!slot.reading) return frame.ui.empty_hint("reading ...");
    slices(frame, *slot.reading);
    notes(frame, *slot.reading, slot.pending);
    if (compact_)
      statistics_.take(slot);
    else
      statistics_.draw(frame, slot, is_part(*slot.reading));
    const ReadingPtr before = frame.model.previous_reading(query);
    draw_table(frame, tensor, slot, before.get());
  }

 private:
  // One line of controls, one line of notes, the header and five rows.
  float fewest_height(const Frame& frame) const { return height_with(frame, 1); }

  float control_lines(const Frame& frame) const {
    constexpr float kControls = 560;  // width of all controls side by side
    return std::ceil(frame.ui.px(kControls) / std::max(width_, frame.ui.px(100)));
  }

  float height_with(const Frame& frame, float control_lines) const {
    constexpr float kRows = 6;
    return (control_lines + (sliced_ ? 1.0f : 0.0f)) * ImGui::GetFrameHeightWithSpacing() +
           ImGui::GetTextLineHeightWithSpacing() + kRows * row_height(frame) +
           ImGui::GetStyle().ScrollbarSize;
  }

  static float row_height(const Frame& frame) {
    return frame.ui.fonts.mono->FontSize + frame.ui.px(6);
  }

  // In a low panel, rarely used controls are in a menu, which leaves the height to the rows.
  void compact_controls(Frame& frame, const TensorView& tensor) {
    constexpr float kOneLine = 340;
    const bool narrow = width_ < frame.ui.px(kOneLine);
    choose_from(frame);
    if (!narrow) go_to_element(frame, tensor);
    Ui::flow(frame.ui.px(24));
    if (ImGui::Button("\u2026")) ImGui::OpenPopup("values/more");
    frame.ui.tag("values/more");
    if (ImGui::IsItemHovered()) Ui::tooltip("format, heat, follow, and changes of the element");
    if (!ImGui::BeginPopup("values/more")) return;
    follow_box(frame, "values/tensor");
    if (narrow) go_to_element(frame, tensor);
    choose_form(frame);
    change_element(frame, tensor);
    ImGui::EndPopup();
  }

  void choose_from(Frame& frame) {
    const float width = frame.ui.px(compact_ ? 92 : 100);
    Ui::flow(width);
    const char* kFrom[] = {"whole", "focus rank", "all ranks"};
    ImGui::SetNextItemWidth(width);
    ImGui::Combo("##from", &from_, kFrom, 3);
    frame.ui.tag("values/from", kFrom[from_]);
  }

  void choose_form(Frame& frame) {
    Ui::flow(frame.ui.px(96));
    const char* kFormats[] = {"decimal", "fixed", "scientific", "hex bits"};
    int format = static_cast<int>(format_);
    ImGui::SetNextItemWidth(frame.ui.px(96));
    if (ImGui::Combo("##format", &format, kFormats, 4)) format_ = static_cast<ValueFormat>(format);
    frame.ui.tag("values/format", kFormats[format]);
    Ui::flow(frame.ui.px(60));
    ImGui::Checkbox("heat", &heat_);
    frame.ui.tag("values/heat", heat_ ? "on" : "off");
  }

  // Instead of a table of poison, shows which ranks have written the tensor and which have not.
  bool nothing_written(Frame& frame, const TensorView& tensor) {
    const interp::Snapshot& shot = *frame.model.snapshot();
    if (!shot.no_stepping.empty()) return false;  // the reading gives the reason
    const bool one = from_ == 1;
    const bool there = one ? written_on(shot, tensor, shot.focus) == Written::kYes ||
                                 !tensor.by_rank[static_cast<size_t>(shot.focus)]
                           : !written_.yes.empty();
    if (there) return false;
    std::string text =
        one ? fmt::format("Rank {} has not written %{} yet.", shot.focus, tensor.name)
            : fmt::format(
                  "Nothing was written to %{} yet: it is allocated, but its contents are "
                  "undefined.",
                  tensor.name);
    if (!written_.in_flight.empty())
      text += " The first write is in flight on " + rank_list(written_.in_flight) +
              ": a wait or the end of the run shows it.";
    if (one && !written_.yes.empty()) text += " Written on " + rank_list(written_.yes) + ":";
    frame.ui.empty_hint(text);
    frame.ui.tag("values/unwritten", text);
    if (!one) return true;
    for (size_t i = 0; i < std::min<size_t>(written_.yes.size(), 16); ++i) {
      const interp::Rank r = written_.yes[i];
      if (i > 0) Ui::flow(frame.ui.px(30));
      if (frame.ui.rank_chip(r, false, fmt::format("values/written/{}", r)))
        frame.actions.command(fmt::format("focus {}", r));
    }
    return true;
  }

  // `[0, 3]` goes to an element.
  void go_to_element(Frame& frame, const TensorView& tensor) {
    const std::vector<int64_t>& element = frame.model.selection.element;
    const Extents& global = tensor.first->placement.global;
    if (!typing_) goto_ = element.size() == global.size() ? index_text(element) : "";
    const float width = frame.ui.px(compact_ ? 92 : 110);
    Ui::flow(width);
    ImGui::SetNextItemWidth(width);
    if (ImGui::InputTextWithHint("##goto", "go to [0, 3]", &goto_,
                                 ImGuiInputTextFlags_EnterReturnsTrue))
      go_to(frame, global);
    typing_ = ImGui::IsItemActive();
    frame.ui.tag("values/goto", goto_);
  }

  // A value that is entered changes the selected element at this stop.
  void change_element(Frame& frame, const TensorView& tensor) {
    const std::vector<int64_t>& element = frame.model.selection.element;
    const Extents& global = tensor.first->placement.global;
    if (!Box::whole(global).holds(element)) return;
    Ui::flow(frame.ui.px(110));
    ImGui::SetNextItemWidth(frame.ui.px(110));
    if (ImGui::InputTextWithHint("##set", "new value", &new_value_,
                                 ImGuiInputTextFlags_EnterReturnsTrue) &&
        !new_value_.empty()) {
      frame.actions.command(
          fmt::format("set %{}{} = {}", tensor.name, index_text(element), new_value_));
      new_value_.clear();
    }
    frame.ui.tag("values/set", new_value_);
    if (ImGui::IsItemHovered())
      Ui::tooltip("changes the element on every rank that holds it, from this stop on");
    Ui::flow(frame.ui.px(110));
    if (ImGui::SmallButton("break on write"))
      frame.actions.command(fmt::format("watch %{}{}", tensor.name, index_text(element)));
    frame.ui.tag("values/watch");
    if (ImGui::IsItemHovered())
      Ui::tooltip("runs stop when this element changes, on any rank that holds it (Shift+F9)");
  }

  void go_to(Frame& frame, const Extents& global) {
    std::vector<int64_t> index;
    for (const char *at = goto_.data(), *end = at + goto_.size(); at < end;) {
      int64_t number = 0;
      const auto [next, error] = std::from_chars(at, end, number);
      at = error == std::errc{} ? next : at + 1;
      if (error == std::errc{}) index.push_back(number);
    }
    if (Box::whole(global).holds(index)) {
      frame.model.selection.element = index;
      scroll_ = true;
    } else {
      frame.model.add_message(
          Message::Kind::kWarning,
          fmt::format("{} is not a valid index: expected {} integers within the shape", goto_,
                      global.size()));
    }
  }

  // Arrow keys move the selected element.
  void nudge(Frame& frame, const TensorView& tensor) {
    std::vector<int64_t>& element = frame.model.selection.element;
    const Extents& global = tensor.first->placement.global;
    if (!Box::whole(global).holds(element)) return;
    const auto move = [&](ImGuiKey key, size_t from_end, int64_t by) {
      if (global.size() < from_end || !ImGui::IsKeyPressed(ImGui::GetKeyIndex(key))) return;
      const size_t d = global.size() - from_end;
      element[d] = std::clamp(element[d] + by, int64_t{0}, std::max<int64_t>(0, global[d] - 1));
      scroll_ = true;
    };
    if (ImGui::GetIO().KeyAlt || ImGui::GetIO().KeyCtrl) return;
    move(ImGuiKey_LeftArrow, 1, -1);
    move(ImGuiKey_RightArrow, 1, 1);
    move(ImGuiKey_UpArrow, 2, -1);
    move(ImGuiKey_DownArrow, 2, 1);
  }

  // Reads a window of the tensor around the selected element: large tensors are never read whole.
  // The window moves in steps of a quarter of its size, so that the next element is usually in it
  // already.
  interp::ValueQuery make_query(Frame& frame, const TensorView& tensor) {
    interp::ValueQuery query;
    query.value = tensor.name;
    query.from = from_ == 0 ? interp::ValueQuery::From::kGlobal : interp::ValueQuery::From::kRank;
    query.rank = frame.model.snapshot()->focus;
    Box box = Box::whole(tensor.first->placement.global);
    if (from_ == 1) {
      const interp::AllocationSnapshot* held = tensor.by_rank[static_cast<size_t>(query.rank)];
      if (!held) return query;
      box = held->placement.box;
    }
    const size_t rank = box.lo.size();
    const std::vector<int64_t>& element = frame.model.selection.element;
    for (size_t d = 0; d < rank; ++d) {
      const bool shown = d + 2 >= rank;
      const int64_t width = shown ? (d + 1 == rank ? kMaxColumns : kMaxRows) : 1;
      if (box.hi[d] - box.lo[d] <= width) continue;
      const int64_t centre = element.size() == rank            ? element[d]
                             : !shown && slice_.size() == rank ? slice_[d]
                                                               : box.lo[d];
      const int64_t step = std::max<int64_t>(1, width / 4);
      const int64_t lo =
          std::clamp((centre - width / 2) / step * step, box.lo[d], box.hi[d] - width);
      box.lo[d] = lo;
      box.hi[d] = lo + width;
    }
    query.box = box;
    return query;
  }

  // For a tensor with more than two dimensions, chooses the slice shown. If an element is selected,
  // this moves the element.
  void slices(Frame& frame, const interp::ValueReading& r) {
    std::vector<int64_t>& element = frame.model.selection.element;
    const Box& whole = r.placement.box;
    const size_t rank = whole.lo.size();
    slice_.resize(rank, 0);
    sliced_ = false;
    for (size_t d = 0; d + 2 < rank; ++d) {
      if (whole.hi[d] - whole.lo[d] < 2) continue;
      sliced_ = true;
      int64_t& at = element.size() == rank ? element[d] : slice_[d];
      int shown = static_cast<int>(std::clamp(at, whole.lo[d], whole.hi[d] - 1));
      const auto last = static_cast<int>(whole.hi[d] - 1);
      if (frame.ui.index_slider(fmt::format("##slice{}", d), d, shown,
                                static_cast<int>(whole.lo[d]), last))
        at = shown;
      frame.ui.tag(fmt::format("values/slice/{}", d), std::to_string(shown));
    }
  }

  void notes(Frame& frame, const interp::ValueReading& r, bool pending) const {
    std::string text = fmt::format("version {}", r.version);
    if (r.undefined && from_ == 0) {
      text += "; written on " + rank_list(written_.yes);
      if (!written_.in_flight.empty()) text += ", in flight on " + rank_list(written_.in_flight);
      if (!written_.never.empty()) text += ", not yet on " + rank_list(written_.never);
      text += " (\u00b7: nothing there yet)";
    }
    if (r.write_in_flight) text += "; a write is in flight";
    if (pending) text += "; reading ...";
    for (const std::string& note : r.notes) text += "; " + note;
    if (is_part(r)) {
      text += "; shown: [";
      for (size_t d = 0; d < r.box.lo.size(); ++d)
        text += fmt::format("{}{}:{}", d ? ", " : "", r.box.lo[d], r.box.hi[d]);
      text += "], select an element to move";
    }
    if (!compact_) ImGui::PushTextWrapPos(0);
    frame.ui.text_dim(text);
    if (!compact_) ImGui::PopTextWrapPos();
    frame.ui.tag("values/notes", text);
    if (compact_ && ImGui::IsItemHovered()) Ui::tooltip("%s", text.c_str());
  }

  static bool is_part(const interp::ValueReading& r) {
    for (size_t d = 0; d < r.box.lo.size(); ++d) {
      if (r.box.hi[d] - r.box.lo[d] < r.placement.box.hi[d] - r.placement.box.lo[d]) return true;
    }
    return false;
  }

  void draw_table(Frame& frame, const TensorView& tensor, const ReadingSlot& slot,
                  const interp::ValueReading* before) {
    const interp::ValueReading& r = *slot.reading;
    const size_t rank = r.box.lo.size();
    const int64_t columns = rank > 0 ? r.box.hi[rank - 1] - r.box.lo[rank - 1] : 1;
    const int64_t elements = r.tensor.element_count();
    if (columns == 0 || elements == 0)
      return frame.ui.empty_hint("\u2205 no elements here: the shard is empty");
    const int64_t rows = elements / columns;
    constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                       ImGuiTableFlags_SizingFixedFit |
                                       ImGuiTableFlags_BordersInnerV;
    const float line = row_height(frame);
    height_ = ImGui::GetCursorPosY() + line * static_cast<float>(rows + 1) + frame.ui.px(30);
    if (seen_element_ != frame.model.selection.element) {
      seen_element_ = frame.model.selection.element;
      scroll_ = true;
    }
    if (r.undefined && (there_.empty() || there_box_ != r.box)) {
      there_ = written_cells(tensor, written_, r.box);
      there_box_ = r.box;
    }
    grid_.fit(frame, r, {slot.serial, format_, ImGui::GetContentRegionAvail().x, columns, rows},
              r.undefined ? &there_ : nullptr);
    if (!ImGui::BeginTable("values", static_cast<int>(columns) + 1, kFlags)) return;
    grid_.set_up();
    grid_.draw_header(r);
    ImGui::PushFont(frame.ui.fonts.mono);
    ImGuiListClipper clipper;
    clipper.Begin(static_cast<int>(rows));
    if (scroll_) {  // draw the row even if out of view, so that it can be scrolled to
      const int row = row_of(r.box, frame.model.selection.element);
      if (row >= 0) clipper.ForceDisplayRangeByIndices(row, row + 1);
    }
    while (clipper.Step()) {
      for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
        draw_row(frame, r, before, i, columns);
    }
    ImGui::PopFont();
    ImGui::EndTable();
  }

  // The table row that contains an element; -1 if the element is not in the box.
  static int row_of(const Box& box, const std::vector<int64_t>& element) {
    if (!box.holds(element)) return -1;
    int64_t row = 0;
    for (size_t d = 0; d + 1 < element.size(); ++d)
      row = row * (box.hi[d] - box.lo[d]) + element[d] - box.lo[d];
    return static_cast<int>(row);
  }

  void draw_row(Frame& frame, const interp::ValueReading& r, const interp::ValueReading* before,
                int row, int64_t columns) {
    const Palette& p = frame.ui.pal();
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    frame.ui.text_dim(ValueGrid::row_label(r.box, row, columns));
    const bool comparable =
        before && before->tensor.data.size() == r.tensor.data.size() && before->box == r.box;
    const Statistics& range = statistics_.shown();
    for (int64_t c = 0; c < columns; ++c) {
      const bool in_view = ImGui::TableNextColumn();
      if (!in_view && !scroll_) continue;
      const int64_t i = row * columns + c;
      const double v = r.tensor.get_double(i);
      std::vector<int64_t> index = r.box.index_at(i);
      const bool there = !r.undefined || there_[static_cast<size_t>(i)];
      const std::string text = ValueGrid::uncut(grid_.text(r.tensor, i, there));
      const auto bytes = static_cast<size_t>(size_bytes(r.tensor.dtype));
      const bool changed =
          comparable && there &&
          std::memcmp(before->tensor.data.data() + static_cast<size_t>(i) * bytes,
                      r.tensor.data.data() + static_cast<size_t>(i) * bytes, bytes) != 0;
      ImU32 colour = changed ? p.changed : p.text;
      if (std::isnan(v)) colour = p.nan;
      if (std::isinf(v)) colour = p.inf;
      if (!there) colour = p.text_dim;
      if (heat_ && !r.undefined && std::isfinite(v) && range.max > range.min) {
        const auto t = static_cast<float>((v - range.min) / (range.max - range.min));
        ImGui::TableSetBgColor(ImGuiTableBgTarget_CellBg, with_alpha(p.ramp(t), 0.6f));
      }
      const bool selected = frame.model.selection.element == index;
      ImGui::PushID(static_cast<int>(i));
      ImGui::PushStyleColor(ImGuiCol_Text, colour);
      if (ImGui::Selectable(text.c_str(), selected)) {
        frame.model.selection.element = index;
        seen_element_ = index;  // it is in view now
      }
      ImGui::PopStyleColor();
      if (selected) outline_selected(p);
      if (selected && std::exchange(scroll_, false)) {
        ImGui::SetScrollHereY(0.5f);
        ImGui::SetScrollHereX(0.5f);
      }
      if (changed) mark_changed(p, frame.ui.px(4));
      if (row < 4 && c < 64) frame.ui.tag(fmt::format("values/{}", i), text);
      const std::string all = there ? value_text(r.tensor, i, format_) : std::string();
      // A copied decimal reads back as the same number.
      frame.ui.copyable(there && format_ == ValueFormat::kDecimal ? format_number(r.tensor, i)
                                                                  : all);
      if (ImGui::IsItemHovered()) {
        frame.model.hovered.element = index;
        if (there && text != all) Ui::tooltip("%s", all.c_str());
      }
      ImGui::PopID();
    }
  }

  // Same style as in the Layout panel.
  static void outline_selected(const Palette& p) {
    const ImVec2 min = ImGui::GetItemRectMin();
    const ImVec2 max = ImGui::GetItemRectMax();
    ImGui::GetWindowDrawList()->AddRect(ImVec2(min.x - 1, min.y), max, p.playhead, 0, 0, 2);
  }

  // A corner mark in addition to the colour: changed since the last stop.
  static void mark_changed(const Palette& p, float size) {
    const ImVec2 max = ImGui::GetItemRectMax();
    const float y = ImGui::GetItemRectMin().y;
    ImGui::GetWindowDrawList()->AddTriangleFilled(ImVec2(max.x - size, y), ImVec2(max.x, y),
                                                  ImVec2(max.x, y + size), p.changed);
  }

  static constexpr int64_t kMaxColumns = 60;
  static constexpr int64_t kMaxRows = 512;
  static constexpr int kSideBySide = 2;
  WrittenRanks written_;                                           // of the shown tensor
  std::pair<uint64_t, std::string> written_of_{~uint64_t{0}, ""};  // generation and tensor
  std::vector<bool> there_;  // by element of `there_box_`, unless everything is written
  Box there_box_;
  int from_ = 0;
  ValueFormat format_ = ValueFormat::kDecimal;
  ValueGrid grid_;
  std::string goto_;
  std::string new_value_;
  bool typing_ = false;
  bool scroll_ = false;
  std::vector<int64_t> seen_element_;  // last element scrolled to
  std::vector<int64_t> slice_;  // indices of the leading dimensions while no element is selected
  bool sliced_ = false;         // there are sliders for leading dimensions
  bool heat_ = true;
  float height_ = 0;      // height of the last complete table; 0: there was none
  float width_ = 0;       // of the panel, in the last frame
  bool compact_ = false;  // a low panel: notes on one line, no statistics
  ValueStatistics statistics_;
};

}  // namespace

std::unique_ptr<Panel> make_values_panel() { return std::make_unique<ValuesPanel>(); }

}  // namespace hostir::gui
