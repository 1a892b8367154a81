#include "gui/panels/diff/diff_heat.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "hostir/ir/inline_value.h"
#include "hostir/support/text.h"
#include "interp/session/checks/compare.h"

namespace hostir::gui {

namespace {

constexpr int64_t kFolded = 64;     // columns into which a long vector is folded
constexpr int64_t kUnasked = 4096;  // elements between checks of the stop token

// b - a. Integers beyond 2^53 may differ and still round to the same double.
double difference_at(const Tensor& a, const Tensor& b, int64_t index) {
  if (!is_float(a.dtype)) {
    const auto distance = static_cast<double>(interp::integer_distance(a, b, index));
    return interp::is_integer_less(a, b, index) ? distance : -distance;
  }
  const double x = a.get_double(index);
  const double y = b.get_double(index);
  return x == y || (std::isnan(x) && std::isnan(y)) ? 0 : y - x;
}

// How bad a difference is: a cell shows the worst one.
double badness(double difference) {
  return std::isfinite(difference) ? std::fabs(difference) : INFINITY;
}

int64_t clamped(int64_t v, int64_t low, int64_t high) { return std::max(low, std::min(v, high)); }

}  // namespace

DiffHeat make_diff_heat(std::shared_ptr<const DiffContents> contents, HeatWindow window,
                        const std::stop_token& stop) {
  DiffHeat heat;
  const Tensor& a = contents->a;
  const Tensor& b = contents->b;
  const int64_t count = a.element_count();
  heat.columns = a.extents.empty() ? 1 : std::max<int64_t>(1, a.extents.back());
  if (heat.columns == count && count > kFolded) heat.columns = kFolded;
  heat.rows = std::max<int64_t>(1, (count + heat.columns - 1) / heat.columns);
  if (window.row1 <= window.row0 || window.column1 <= window.column0)
    window = {0, heat.rows, 0, heat.columns};
  window.row1 = std::min(window.row1, heat.rows);
  window.column1 = std::min(window.column1, heat.columns);
  heat.window = window;
  const int64_t rows = window.row1 - window.row0;
  const int64_t columns = window.column1 - window.column0;
  heat.cell_rows = static_cast<int>(std::min<int64_t>(rows, kHeatSide));
  heat.cell_columns = static_cast<int>(std::min<int64_t>(columns, kHeatSide));
  heat.cells.resize(static_cast<size_t>(heat.cell_rows) * static_cast<size_t>(heat.cell_columns));
  bool any = false;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      if (c % kUnasked == 0 && stop.stop_requested()) return heat;
      const int64_t index = (window.row0 + r) * heat.columns + window.column0 + c;
      if (index >= count) continue;
      const double x = a.get_double(index);
      const double y = b.get_double(index);
      for (const double v : {x, y}) {
        if (!std::isfinite(v)) continue;
        heat.low = any ? std::min(heat.low, v) : v;
        heat.high = any ? std::max(heat.high, v) : v;
        any = true;
      }
      const double difference = difference_at(a, b, index);
      const double bad = badness(difference);
      if (std::isfinite(bad)) heat.largest = std::max(heat.largest, bad);
      HeatCell& cell = heat.cells[static_cast<size_t>(r * heat.cell_rows / rows) *
                                      static_cast<size_t>(heat.cell_columns) +
                                  static_cast<size_t>(c * heat.cell_columns / columns)];
      if (cell.index < 0 || bad > badness(cell.difference)) cell = {index, x, y, difference};
    }
  }
  heat.contents = std::move(contents);
  return heat;
}

std::string describe_element(const DiffContents& contents, int64_t index) {
  const double a = contents.a.get_double(index);
  const double b = contents.b.get_double(index);
  std::string out = fmt::format("{}: {} in A, {} in B", index_text(contents.box.index_at(index)),
                                format_number(contents.a, index), format_number(contents.b, index));
  if (!is_float(contents.a.dtype)) {
    const uint64_t exact = interp::integer_distance(contents.a, contents.b, index);
    if (exact == 0) return out + ", equal";
    out += fmt::format(", |a - b| = {}", exact);
    return b == 0
               ? out
               : out + fmt::format(", relative {:.3g}", static_cast<double>(exact) / std::fabs(b));
  }
  if (a == b || (std::isnan(a) && std::isnan(b))) return out + ", equal";
  const double distance = std::fabs(b - a);
  if (!std::isfinite(distance)) return out;
  out += fmt::format(", |a - b| = {:.3g}", distance);
  if (b != 0) out += fmt::format(", relative {:.3g}", distance / std::fabs(b));
  return out + ", " + interp::describe_ulp(interp::ulp_distance(contents.a.dtype, a, b));
}

std::string describe_pointed(const DiffContents& contents, int64_t index) {
  if (contents.a.element_count() == 0) return "no elements";
  if (index >= 0) return describe_element(contents, index);
  if (contents.difference.worst < 0) return "no element differs";
  return "largest difference at " + describe_element(contents, contents.difference.worst);
}

void DiffPictures::update(Frame& frame) {
  const std::shared_ptr<const DiffContents> contents = frame.model.comparison().shared_contents();
  if (window_of_ != contents.get()) {
    window_of_ = contents.get();
    window_ = {};
    pointed_ = -1;
  }
  State& s = *state_;
  if (s.asked && s.asked_of == contents.get() && s.asked_window == window_) return;
  s.asked = true;
  s.asked_of = contents.get();
  s.asked_window = window_;
  frame.model.comparison().ask_quick(
      "heat",
      [state = state_, contents, window = window_](std::stop_token stop) -> std::function<void()> {
        auto heat = std::make_shared<const DiffHeat>(make_diff_heat(contents, window, stop));
        return [state, heat] { state->heat = heat; };
      });
}

ImU32 DiffPictures::colour(const Palette& p, const DiffHeat& heat, const HeatCell& cell,
                           Picture picture) {
  if (cell.index < 0) return p.panel;
  if (picture == Picture::kDifference) {
    const bool nan = std::isnan(cell.a) || std::isnan(cell.b);
    if (nan) return std::isnan(cell.a) && std::isnan(cell.b) ? p.diverging(0) : p.nan;
    const double d = cell.difference;
    if (!std::isfinite(d)) return p.inf;
    return p.diverging(heat.largest > 0 ? static_cast<float>(d / heat.largest) : 0);
  }
  const double v = picture == Picture::kA ? cell.a : cell.b;
  if (std::isnan(v)) return p.nan;
  if (std::isinf(v)) return p.inf;
  const double width = heat.high > heat.low ? heat.high - heat.low : 1;
  return p.ramp(static_cast<float>((v - heat.low) / width));
}

float DiffPictures::cell_side(Frame& frame, const DiffHeat& heat, ImVec2 size) {
  const float line = ImGui::GetTextLineHeight() + frame.ui.px(3);
  return std::min({size.x / static_cast<float>(std::max(1, heat.cell_columns)),
                   (size.y - line) / static_cast<float>(std::max(1, heat.cell_rows)),
                   frame.ui.px(32)});
}

void DiffPictures::draw(Frame& frame, const std::string& name_a, const std::string& name_b) {
  update(frame);
  const DiffHeat* heat = state_->heat.get();
  if (!heat || heat->contents.get() != window_of_) return frame.ui.text_dim("...");
  const bool swapped = frame.model.comparison().swapped;
  const ImVec2 space = ImGui::GetContentRegionAvail();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float gap = frame.ui.px(10);
  const float line = ImGui::GetTextLineHeightWithSpacing();
  const ImVec2 size(std::max(frame.ui.px(40), (space.x - 2 * gap) / 3),
                    std::max(frame.ui.px(40), space.y - 2 * line - frame.ui.px(4)));
  const int64_t pointed = std::exchange(pointed_, -1);
  const std::string a = "A: " + name_a;
  const std::string b = "B: " + name_b;
  const float side = cell_side(frame, *heat, size);
  // If the pictures are narrower than the available width, put them side by side without a gap.
  const float width =
      std::min(size.x, std::max(side * static_cast<float>(heat->cell_columns), frame.ui.px(150)));
  const float step = width + gap;
  draw_picture(frame, swapped ? Picture::kB : Picture::kA, swapped ? b : a, at, side, width);
  draw_picture(frame, swapped ? Picture::kA : Picture::kB, swapped ? a : b,
               ImVec2(at.x + step, at.y), side, width);
  draw_picture(frame, Picture::kDifference, fmt::format("B - A, +/- {:.3g}", heat->largest),
               ImVec2(at.x + 2 * step, at.y), side, width);
  ImGui::SetCursorScreenPos(ImVec2(at.x, at.y + size.y + ImGui::GetStyle().ItemSpacing.y));
  if (pointed_ < 0 && pointed >= 0 && ImGui::IsMouseDragging(0)) pointed_ = pointed;
  draw_element(frame);
}

void DiffPictures::draw_picture(Frame& frame, Picture picture, const std::string& caption,
                                ImVec2 at, float side, float width) {
  const Palette& p = frame.ui.pal();
  const DiffHeat& heat = *state_->heat;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float line = ImGui::GetTextLineHeight() + frame.ui.px(3);
  frame.ui.draw_elided(list, at, p.text_dim, caption, width, frame.ui.fonts.small);
  const ImVec2 from(at.x, at.y + line);
  const char* name = picture == Picture::kA   ? "diff/heat/a"
                     : picture == Picture::kB ? "diff/heat/b"
                                              : "diff/heat/difference";
  for (int r = 0; r < heat.cell_rows; ++r) {
    for (int c = 0; c < heat.cell_columns; ++c) {
      const HeatCell& cell =
          heat.cells[static_cast<size_t>(r) * static_cast<size_t>(heat.cell_columns) +
                     static_cast<size_t>(c)];
      const ImVec2 low(from.x + static_cast<float>(c) * side,
                       from.y + static_cast<float>(r) * side);
      list->AddRectFilled(low, ImVec2(low.x + side, low.y + side), colour(p, heat, cell, picture));
    }
  }
  const ImVec2 extent(side * static_cast<float>(heat.cell_columns),
                      side * static_cast<float>(heat.cell_rows));
  list->AddRect(from, ImVec2(from.x + extent.x, from.y + extent.y), p.border);
  ImGui::SetCursorScreenPos(from);
  ImGui::InvisibleButton(name, ImVec2(std::max(1.0f, extent.x), std::max(1.0f, extent.y)));
  frame.ui.tag(name, caption);
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) move(frame, from, side);
}

void DiffPictures::move(Frame& frame, ImVec2 from, float side) {
  const DiffHeat& heat = *state_->heat;
  const ImGuiIO& io = ImGui::GetIO();
  const auto column =
      clamped(static_cast<int64_t>((io.MousePos.x - from.x) / side), 0, heat.cell_columns - 1);
  const auto row =
      clamped(static_cast<int64_t>((io.MousePos.y - from.y) / side), 0, heat.cell_rows - 1);
  const HeatCell& cell = heat.cells[static_cast<size_t>(row * heat.cell_columns + column)];
  pointed_ = cell.index;
  if (ImGui::IsItemClicked() && cell.index >= 0)
    frame.model.selection.element = heat.contents->box.index_at(cell.index);
  if (ImGui::IsItemHovered() && ImGui::IsMouseDoubleClicked(0)) window_ = {};
  const HeatWindow w = heat.window;
  const int64_t rows = w.row1 - w.row0;
  const int64_t columns = w.column1 - w.column0;
  if (io.MouseWheel != 0 && !io.KeyCtrl && !io.KeyShift) {
    const double factor = io.MouseWheel > 0 ? 0.7 : 1 / 0.7;
    const auto scaled = [&](int64_t n, int64_t most) {
      const auto wanted = static_cast<int64_t>(std::lround(static_cast<double>(n) * factor));
      return clamped(wanted == n ? n + (factor > 1 ? 1 : -1) : wanted, std::min<int64_t>(2, most),
                     most);
    };
    const int64_t new_rows = scaled(rows, heat.rows);
    const int64_t new_columns = scaled(columns, heat.columns);
    // Keep the element under the pointer in place.
    const int64_t r = w.row0 + row * rows / heat.cell_rows;
    const int64_t c = w.column0 + column * columns / heat.cell_columns;
    const int64_t row0 = clamped(r - row * new_rows / heat.cell_rows, 0, heat.rows - new_rows);
    const int64_t column0 =
        clamped(c - column * new_columns / heat.cell_columns, 0, heat.columns - new_columns);
    window_ = {row0, row0 + new_rows, column0, column0 + new_columns};
  }
  if (!ImGui::IsItemActive() || !ImGui::IsMouseDragging(0)) {
    dragged_x_ = dragged_y_ = 0;
    return;
  }
  dragged_x_ -= static_cast<double>(io.MouseDelta.x) / static_cast<double>(side) *
                static_cast<double>(columns) / heat.cell_columns;
  dragged_y_ -= static_cast<double>(io.MouseDelta.y) / static_cast<double>(side) *
                static_cast<double>(rows) / heat.cell_rows;
  const auto by_x = static_cast<int64_t>(dragged_x_);
  const auto by_y = static_cast<int64_t>(dragged_y_);
  if (by_x == 0 && by_y == 0) return;
  dragged_x_ -= static_cast<double>(by_x);
  dragged_y_ -= static_cast<double>(by_y);
  const int64_t row0 = clamped(w.row0 + by_y, 0, heat.rows - rows);
  const int64_t column0 = clamped(w.column0 + by_x, 0, heat.columns - columns);
  window_ = {row0, row0 + rows, column0, column0 + columns};
}

void DiffPictures::draw_element(Frame& frame) const {
  const DiffHeat& heat = *state_->heat;
  const DiffContents& contents = *heat.contents;
  const std::string text =
      describe_pointed(contents, pointed_ < contents.a.element_count() ? pointed_ : -1);
  frame.ui.text_dim(text);
  frame.ui.tag("diff/element", text);
  const int64_t shown = static_cast<int64_t>(heat.cell_rows) * heat.cell_columns;
  const int64_t of =
      (heat.window.row1 - heat.window.row0) * (heat.window.column1 - heat.window.column0);
  std::string range = fmt::format(
      "A and B share the range {:.4g} .. {:.4g}; NaN magenta, Inf yellow", heat.low, heat.high);
  if (shown < of)
    range += fmt::format("; a cell shows the largest difference of {} elements",
                         (of + shown - 1) / shown);
  frame.ui.text_dim(range);
  frame.ui.tag("diff/range", range);
}

}  // namespace hostir::gui
