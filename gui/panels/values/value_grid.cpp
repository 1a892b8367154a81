#include "gui/panels/values/value_grid.h"

#include <fmt/core.h>

#include <algorithm>
#include <cfloat>
#include <utility>

namespace hostir::gui {

namespace {

constexpr int kMostDigits = 6;
constexpr int kFewestDigits = 3;
constexpr int kScrollingDigits = 4;

std::string column_label(const Box& box, int64_t column) {
  return box.lo.empty() ? "" : std::to_string(box.lo.back() + column);
}

bool is_cut(float width) {
  const ImDrawList* list = ImGui::GetWindowDrawList();
  const float x = ImGui::GetCursorScreenPos().x;
  return x < list->GetClipRectMin().x || x + width > list->GetClipRectMax().x + 0.5f;
}

}  // namespace

void ValueGrid::fit(const Frame& frame, const interp::ValueReading& reading, const Key& key,
                    const std::vector<bool>* there) {
  if (key_ == key && scale_ == frame.ui.scale) return;
  key_ = key;
  scale_ = frame.ui.scale;
  const float space = key.space - ImGui::GetStyle().ScrollbarSize;
  for (digits_ = kMostDigits; digits_ >= kFewestDigits; --digits_) {
    if (measure(frame, reading, there, digits_) <= space) return;
  }
  digits_ = kScrollingDigits;
  measure(frame, reading, there, digits_);
}

float ValueGrid::measure(const Frame& frame, const interp::ValueReading& reading,
                         const std::vector<bool>* there, int digits) {
  const ImFont* font = frame.ui.fonts.mono;
  const float glyph = font->CalcTextSizeA(font->FontSize, FLT_MAX, 0, "0").x;
  const float padding = 2 * ImGui::GetStyle().CellPadding.x + 1;  // and the border
  widths_.assign(static_cast<size_t>(key_.columns) + 1, 0);
  for (const int64_t row : {int64_t{0}, key_.rows - 1}) {
    const auto length = static_cast<float>(row_label(reading.box, row, key_.columns).size());
    widths_[0] = std::max(widths_[0], glyph * length);
  }
  float whole = widths_[0] + padding;
  for (int64_t c = 0; c < key_.columns; ++c) {
    size_t longest = 1;
    for (int64_t i = c; i < key_.rows * key_.columns; i += key_.columns) {
      if (there && !(*there)[static_cast<size_t>(i)]) continue;
      longest = std::max(longest, value_text(reading.tensor, i, key_.format, digits).size());
    }
    float& width = widths_[static_cast<size_t>(c) + 1];
    width = std::max(glyph * static_cast<float>(longest),
                     ImGui::CalcTextSize(column_label(reading.box, c).c_str()).x);
    whole += width + padding;
  }
  return whole;
}

void ValueGrid::set_up() const {
  ImGui::TableSetupScrollFreeze(1, 1);
  for (const float width : widths_)
    ImGui::TableSetupColumn("", ImGuiTableColumnFlags_WidthFixed, std::max(1.0f, width));
}

void ValueGrid::draw_header(const interp::ValueReading& reading) {
  ImGui::TableNextRow(ImGuiTableRowFlags_Headers);
  for (int c = 1; c < ImGui::TableGetColumnCount(); ++c) {
    if (!ImGui::TableSetColumnIndex(c)) continue;
    const std::string label = column_label(reading.box, c - 1);
    if (!is_cut(ImGui::CalcTextSize(label.c_str()).x)) ImGui::TextUnformatted(label.c_str());
  }
}

std::string ValueGrid::text(const Tensor& tensor, int64_t i, bool there) const {
  return there ? value_text(tensor, i, key_.format, digits_) : "\u00b7";
}

std::string ValueGrid::uncut(std::string text) {
  return is_cut(ImGui::CalcTextSize(text.c_str()).x) ? "\u2026" : std::move(text);
}

std::string ValueGrid::row_label(const Box& box, int64_t row, int64_t columns) {
  const std::vector<int64_t> first = box.index_at(row * columns);
  std::string label;
  for (size_t d = 0; d + 1 < first.size(); ++d)
    label += fmt::format("{}{}", d ? "," : "", first[d]);
  return label;
}

}  // namespace hostir::gui
