#include "gui/panels/values/value_statistics.h"

#include <fmt/core.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

namespace hostir::gui {

Statistics statistics_of(const Tensor& tensor) {
  Statistics s;
  double sum = 0;
  int64_t finite = 0;
  const int64_t n = tensor.element_count();
  for (int64_t i = 0; i < n; ++i) {
    const double v = tensor.get_double(i);
    if (std::isnan(v)) {
      ++s.nans;
    } else if (std::isinf(v)) {
      ++s.infs;
    } else {
      s.min = finite ? std::min(s.min, v) : v;
      s.max = finite ? std::max(s.max, v) : v;
      sum += v;
      ++finite;
    }
  }
  if (finite == 0) return s;
  s.mean = sum / static_cast<double>(finite);
  s.histogram.assign(32, 0);
  const double width = s.max > s.min ? s.max - s.min : 1;
  for (int64_t i = 0; i < n; ++i) {
    const double v = tensor.get_double(i);
    if (!std::isfinite(v)) continue;
    s.histogram[static_cast<size_t>(std::min(31.0, (v - s.min) / width * 32))] += 1;
  }
  return s;
}

void ValueStatistics::take(const ReadingSlot& slot) {
  if (of_ == slot.serial || slot.reading->undefined) return;  // poison has no statistics
  shown_ = statistics_of(slot.reading->tensor);
  of_ = slot.serial;
}

void ValueStatistics::draw(Frame& frame, const ReadingSlot& slot, bool part) {
  if (slot.reading->undefined) return;
  take(slot);
  const std::string text =
      fmt::format("{}min {:.6g}   max {:.6g}   mean {:.6g}", part ? "of this part: " : "",
                  shown_.min, shown_.max, shown_.mean);
  frame.ui.text_mono(text);
  frame.ui.tag("values/stats", text);
  if (shown_.nans + shown_.infs > 0) {
    const std::string bad = fmt::format("NaN {}  Inf {}", shown_.nans, shown_.infs);
    Ui::flow(ImGui::CalcTextSize(bad.c_str()).x + frame.ui.px(14));  // with its glyph
    frame.ui.state_word(StateKind::kMismatch, bad);
    frame.ui.tag("values/nan", std::to_string(shown_.nans));
  }
  if (shown_.histogram.empty()) return;
  Ui::flow(frame.ui.px(140));
  ImGui::PlotHistogram("##histogram", shown_.histogram.data(),
                       static_cast<int>(shown_.histogram.size()), 0, nullptr, 0, FLT_MAX,
                       ImVec2(frame.ui.px(140), ImGui::GetTextLineHeight()));
}

}  // namespace hostir::gui
