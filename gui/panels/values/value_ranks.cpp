#include "gui/panels/values/value_ranks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "gui/panels/layout/layout_geometry.h"
#include "gui/panels/layout/written.h"
#include "hostir/ir/box_text.h"
#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxColumns = 32;
constexpr int64_t kMaxWindowElements = 512;

// A window of the tensor around the selected element, with at most kMaxWindowElements elements.
Box window_of(const Extents& global, const std::vector<int64_t>& element) {
  Box box = Box::whole(global);
  int64_t budget = kMaxWindowElements;
  for (size_t d = global.size(); d-- > 0;) {
    const int64_t width = std::max<int64_t>(1, std::min(global[d], budget));
    if (global[d] > width) {
      const int64_t centre = element.size() == global.size() ? element[d] : 0;
      box.lo[d] = std::clamp(centre - width / 2, int64_t{0}, global[d] - width);
      box.hi[d] = box.lo[d] + width;
    }
    budget = std::max<int64_t>(1, budget / width);
  }
  return box;
}

struct Column {
  interp::Rank rank;
  Box box;
  const ReadingSlot* slot;
  Written written = Written::kYes;
};

int64_t place_in(const Box& box, const std::vector<int64_t>& index) {
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d)
    place = place * (box.hi[d] - box.lo[d]) + index[d] - box.lo[d];
  return place;
}

const Tensor* tensor_of(const Column& c, const std::vector<int64_t>& index) {
  const bool there =
      c.slot && c.slot->reading && c.slot->reading->box == c.box && c.box.holds(index);
  return there ? &c.slot->reading->tensor : nullptr;
}

void draw_element(Frame& frame, const std::vector<Column>& columns,
                  const std::vector<int64_t>& index, int64_t i, ValueFormat format) {
  const Palette& p = frame.ui.pal();
  ImGui::PushID(static_cast<int>(i));
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const std::string label = index_text(index);
  if (ImGui::Selectable(label.c_str(), frame.model.selection.element == index,
                        ImGuiSelectableFlags_SpanAllColumns))
    frame.model.selection.element = index;
  if (ImGui::IsItemHovered()) frame.model.hovered.element = index;
  const Tensor* first = nullptr;
  int64_t first_place = 0;
  for (const Column& c : columns) {
    ImGui::TableNextColumn();
    const Tensor* tensor = tensor_of(c, index);
    if (!tensor) continue;
    if (c.written != Written::kYes) {
      frame.ui.text_dim("\u00b7");
      continue;
    }
    const int64_t place = place_in(c.box, index);
    const double v = tensor->get_double(place);
    const std::string text = value_text(*tensor, place, format);
    const bool differs = first && value_text(*first, first_place, ValueFormat::kBits) !=
                                      value_text(*tensor, place, ValueFormat::kBits);
    if (!first) {
      first = tensor;
      first_place = place;
    }
    ImGui::PushStyleColor(ImGuiCol_Text, std::isnan(v)   ? p.nan
                                         : std::isinf(v) ? p.inf
                                         : differs       ? p.changed
                                                         : p.text);
    frame.ui.text(differs ? text + " \u2260" : text);
    ImGui::PopStyleColor();
    if (i < 8) frame.ui.tag(fmt::format("values/{}/r{}", i, c.rank), text);
  }
  ImGui::PopID();
}

}  // namespace

void draw_value_ranks(Frame& frame, const TensorView& tensor, ValueFormat format) {
  const Extents& global = tensor.first->placement.global;
  const Box window = window_of(global, frame.model.selection.element);
  std::vector<Column> columns;
  size_t hidden = 0;
  for (size_t r = 0; r < tensor.by_rank.size(); ++r) {
    const interp::AllocationSnapshot* held = tensor.by_rank[r];
    if (!held || !held->live) continue;
    if (columns.size() == kMaxColumns) {
      ++hidden;
      continue;
    }
    interp::ValueQuery query;
    query.value = tensor.name;
    query.rank = static_cast<interp::Rank>(r);
    query.box = window.intersect(held->placement.box);
    const ReadingSlot* slot = query.box->empty() ? nullptr : &frame.model.reading(query);
    columns.push_back(
        {query.rank, *query.box, slot, written_on(*frame.model.snapshot(), tensor, query.rank)});
  }
  if (hidden > 0) frame.ui.say_hidden(fmt::format("values of {} ranks", hidden));
  if (window.volume() < Box::whole(global).volume())
    frame.ui.text_dim("shown: " + to_string(window) + ", go to an element to move");
  frame.ui.text_dim("\u2260 marks values that differ from those of the first rank that holds them");
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_ScrollX | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_SizingFixedFit | ImGuiTableFlags_RowBg;
  if (!ImGui::BeginTable("ranks", static_cast<int>(columns.size()) + 1, kFlags)) return;
  ImGui::TableSetupScrollFreeze(1, 1);
  ImGui::TableSetupColumn("element");
  for (const Column& c : columns) {
    const char* state = c.written == Written::kNever      ? " (not written)"
                        : c.written == Written::kInFlight ? " (in flight)"
                                                          : "";
    ImGui::TableSetupColumn(fmt::format("r{}{}", c.rank, state).c_str());
  }
  ImGui::TableHeadersRow();
  ImGui::PushFont(frame.ui.fonts.mono);
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(window.volume()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i) {
      draw_element(frame, columns, window.index_at(i), i, format);
    }
  }
  ImGui::PopFont();
  ImGui::EndTable();
}

}  // namespace hostir::gui
