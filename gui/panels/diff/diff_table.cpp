#include "gui/panels/diff/diff_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/text.h"

namespace hostir::gui {

using interp::WriteOutcome;

StateKind state_of(WriteOutcome outcome) {
  switch (outcome) {
    case WriteOutcome::kEqual:
      return StateKind::kOk;
    case WriteOutcome::kWithinUlp:
    case WriteOutcome::kWithinTolerance:
      return StateKind::kWaiting;
    case WriteOutcome::kNotReached:
    case WriteOutcome::kNotCompared:
      return StateKind::kMissing;
    case WriteOutcome::kDiffers:
      return StateKind::kMismatch;
    case WriteOutcome::kOver:
    case WriteOutcome::kOnlyA:
    case WriteOutcome::kOnlyB:
      return StateKind::kFailed;
  }
  return StateKind::kMissing;
}

void draw_diff_strip(Frame& frame) {
  constexpr int kNamedCells = 64;
  const DiffView& view = *frame.model.comparison().view();
  if (view.strip.empty()) return;
  const Palette& p = frame.ui.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float label = frame.ui.px(view.ranks_per_line > 1 ? 58 : 30);
  const float height = frame.ui.px(view.strip.size() > 6 ? 9.0f : 14.0f);
  const float width = ImGui::GetContentRegionAvail().x - label - frame.ui.px(4);
  const float cell_width = width / static_cast<float>(std::max(1, view.columns));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  for (size_t line = 0; line < view.strip.size(); ++line) {
    const float y = at.y + static_cast<float>(line) * (height + 2);
    const int first = static_cast<int>(line) * view.ranks_per_line;
    const std::string text = view.ranks_per_line > 1
                                 ? fmt::format("r{}-{}", first, first + view.ranks_per_line - 1)
                                 : fmt::format("r{}", first);
    frame.ui.draw_text(list, ImVec2(at.x, y - 1), p.rank(first), text, label, frame.ui.fonts.small);
    for (size_t c = 0; c < view.strip[line].size(); ++c) {
      const StripCell& cell = view.strip[line][c];
      if (cell.row == interp::kNoWrite) continue;
      const StateKind state = state_of(cell.worst);
      const ImVec2 low(at.x + label + static_cast<float>(c) * cell_width, y);
      const ImVec2 high(low.x + std::max(1.5f, cell_width - 1), y + height);
      list->AddRectFilled(low, high, with_alpha(p.state(state), 0.75f));
      const bool selected = frame.model.comparison().selected() == cell.row;
      if (selected) list->AddRect(low, high, p.text_strong, 0, 0, frame.ui.px(2));
      if (state != StateKind::kOk && cell_width >= frame.ui.px(7))
        frame.ui.draw_text(list, ImVec2(low.x + (high.x - low.x) / 2 - frame.ui.px(3), y - 1),
                           p.background, glyph(state), cell_width, frame.ui.fonts.small);
    }
  }
  const float total = static_cast<float>(view.strip.size()) * (height + 2);
  ImGui::InvisibleButton("strip", ImVec2(label + width, total));
  frame.ui.tag("diff/strip");
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto line = static_cast<size_t>(std::max(0.0f, (mouse.y - at.y) / (height + 2)));
  const float x = (mouse.x - at.x - label) / std::max(0.1f, cell_width);
  // Only the first cells are tagged, for tests and scripts.
  int named = 0;
  for (size_t l = 0; l < view.strip.size(); ++l) {
    for (size_t c = 0; c < view.strip[l].size(); ++c) {
      const StripCell& cell = view.strip[l][c];
      if (cell.row == interp::kNoWrite || cell.worst == WriteOutcome::kEqual ||
          ++named > kNamedCells)
        continue;
      const ImVec2 low(at.x + label + static_cast<float>(c) * cell_width,
                       at.y + static_cast<float>(l) * (height + 2));
      frame.ui.tag_rect(fmt::format("diff/strip/{}/{}", l, c), low,
                        ImVec2(low.x + cell_width, low.y + height),
                        interp::describe(cell.worst, view.limits));
    }
  }
  if (!ImGui::IsItemHovered() || line >= view.strip.size() || x < 0 ||
      x >= static_cast<float>(view.columns))
    return;
  const StripCell& cell = view.strip[line][static_cast<size_t>(x)];
  if (cell.row == interp::kNoWrite) return;
  const std::string what = fmt::format(
      "{}, the worst: {}\n{}", counted(static_cast<size_t>(cell.count), "write"),
      interp::describe(cell.worst, view.limits), view.diff->place(view.diff->rows[cell.row]));
  Ui::tooltip("%s", what.c_str());
  if (ImGui::IsItemClicked()) frame.model.comparison().go_to(frame.model, cell.row);
}

std::string diff_ulp_text(const interp::WriteDifference& d) {
  if (d.nan_in_one > 0) return "NaN in one";
  if (d.not_finite > 0) return "Inf differs";
  const std::string text = interp::describe_ulp(d.max_ulp);
  return text.substr(0, text.rfind(' '));
}

namespace {

// The value ranges of both writes, for a row that was not measured.
std::string ranges(const interp::RunDiff& diff, const interp::DiffRow& row) {
  const interp::RunWrite* a = diff.write_a(row);
  const interp::RunWrite* b = diff.write_b(row);
  const auto text = [](const interp::RunWrite& w) {
    if (w.not_finite) return fmt::format("{:.4g} .. {:.4g}, NaN or Inf", w.min, w.max);
    return fmt::format("{:.4g} .. {:.4g}", w.min, w.max);
  };
  if (a && b && a->has_stats && b->has_stats) {
    const std::string in_a = text(*a);
    const std::string in_b = text(*b);
    return in_a == in_b ? "both " + in_a : in_a + " | " + in_b;
  }
  if (a && a->has_stats) return text(*a) + " | -";
  if (b && b->has_stats) return "- | " + text(*b);
  return "-";
}

void cell(Frame& frame, const std::string& text) {
  ImGui::TableNextColumn();
  frame.ui.text_mono(text);
}

void draw_numbers(Frame& frame, const DiffView& view, uint32_t row) {
  const interp::WriteDifference* d = view.of(row);
  if (!d) {
    for (int i = 0; i < 5; ++i) cell(frame, view.outcomes[row] == WriteOutcome::kEqual ? "" : "-");
    return;
  }
  const interp::DiffRow& r = view.diff->rows[row];
  const auto rank = static_cast<size_t>(view.diff->write(r).rank);
  cell(frame, d->differing == 0 ? "0" : fmt::format("{} of {}", d->differing, d->elements));
  cell(frame, diff_ulp_text(*d));
  cell(frame, fmt::format("{:.3g}", d->max_abs));
  cell(frame, fmt::format("{:.3g}", d->max_rel));
  cell(frame, d->first < 0 ? "-" : index_text(view.diff->tensor(r).boxes[rank].index_at(d->first)));
}

void draw_row(Frame& frame, const DiffView& view, uint32_t row, bool reveal) {
  Comparison& comparison = frame.model.comparison();
  const interp::RunDiff& diff = *view.diff;
  const interp::DiffRow& r = diff.rows[row];
  const interp::Rank rank = diff.write(r).rank;
  ImGui::PushID(static_cast<int>(row));
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  const bool selected = comparison.selected() == row;
  const StateKind state = state_of(view.outcomes[row]);
  ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().state(state));
  const std::string outcome =
      fmt::format("{} {}", glyph(state), interp::describe(view.outcomes[row], view.limits));
  if (ImGui::Selectable(outcome.c_str(), selected, ImGuiSelectableFlags_SpanAllColumns))
    comparison.go_to(frame.model, row);
  ImGui::PopStyleColor();
  if (selected && reveal) ImGui::SetScrollHereY(0.3f);
  frame.ui.tag(
      fmt::format("diff/{}", row),
      fmt::format("{}: {}", diff.place(r), interp::describe(view.outcomes[row], view.limits)));
  if (ImGui::IsItemHovered()) frame.model.hovered.rank = rank;
  cell(frame, "%" + diff.tensor(r).name);
  ImGui::TableNextColumn();
  ImGui::PushStyleColor(ImGuiCol_Text, frame.ui.pal().rank(rank));
  frame.ui.text(fmt::format("r{}", rank));
  ImGui::PopStyleColor();
  cell(frame, diff.address(r));
  cell(frame, diff.loop(r));
  draw_numbers(frame, view, row);
  cell(frame, ranges(diff, r));
  ImGui::PopID();
}

}  // namespace

void draw_diff_table(Frame& frame, ImVec2 size, bool reveal) {
  const DiffView& view = *frame.model.comparison().view();
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY |
                                     ImGuiTableFlags_ScrollX | ImGuiTableFlags_SizingFixedFit |
                                     ImGuiTableFlags_BordersInnerV;
  if (!ImGui::BeginTable("rows", 11, kFlags, size)) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const char* column : {"outcome", "tensor", "rank", "written by", "loop", "differing",
                             "max ulp", "max |a-b|", "max relative", "first at", "range in A | B"})
    ImGui::TableSetupColumn(column);
  ImGui::TableHeadersRow();
  const std::vector<uint32_t>& shown = view.shown;
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(std::min<size_t>(shown.size(), INT32_MAX)));
  if (reveal && frame.model.comparison().selected()) {
    const auto at =
        std::lower_bound(shown.begin(), shown.end(), *frame.model.comparison().selected());
    const auto index = static_cast<int>(at - shown.begin());
    if (at != shown.end()) clipper.ForceDisplayRangeByIndices(index, index + 1);
  }
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
      draw_row(frame, view, shown[static_cast<size_t>(i)], reveal);
  }
  ImGui::EndTable();
}

}  // namespace hostir::gui
