#include "gui/panels/timeline/duration_histogram.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

using interp::Durations;

/// From durations to pixels. Durations below a nanosecond are drawn at one.
class DurationAxis {
 public:
  DurationAxis(double least, double most, float left, float width) : left_(left), width_(width) {
    from_ = std::log(std::max(least, 1.0));
    to_ = std::log(std::max(most, 1.0));
    // A single duration is drawn in the middle.
    constexpr double kLeastSpan = 0.25;
    const double missing = std::max(0.0, kLeastSpan - (to_ - from_));
    from_ -= missing / 2;
    to_ += missing / 2;
  }
  float x(double ns) const {
    return left_ +
           static_cast<float>((std::log(std::max(ns, 1.0)) - from_) / (to_ - from_)) * width_;
  }

 private:
  float left_;
  float width_;
  double from_ = 0;
  double to_ = 1;
};

struct HistogramBar {
  float left = 0;
  float right = 0;
  int64_t from_ns = 0;
  int64_t to_ns = 0;
  int64_t count = 0;
};

// Bins narrower than a few pixels are drawn as one bar.
std::vector<HistogramBar> histogram_bars(const Durations& durations, const DurationAxis& axis,
                                         float narrowest) {
  std::vector<HistogramBar> bars;
  for (const Durations::Bin& bin : durations.bins()) {
    const auto [from, to] = Durations::range_of(bin.index);
    const float left = axis.x(static_cast<double>(from));
    const float right = axis.x(static_cast<double>(to));
    if (!bars.empty() && right - bars.back().left < narrowest) {
      bars.back().right = right;
      bars.back().to_ns = to;
      bars.back().count += bin.count;
    } else {
      bars.push_back({left, right, from, to, bin.count});
    }
  }
  return bars;
}

void mark_duration(Frame& frame, ImDrawList* list, float x, ImVec2 at, float height, ImU32 colour) {
  list->AddLine(ImVec2(x, at.y), ImVec2(x, at.y + height), colour, frame.ui.px(1.5f));
}

}  // namespace

void draw_histogram(Frame& frame, const Durations& durations, ImVec2 size, ImU32 colour) {
  const Palette& p = frame.ui.pal();
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImFont* font = frame.ui.fonts.small;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float labels = font->FontSize + frame.ui.px(3);
  const float height = std::max(frame.ui.px(12), size.y - labels);
  ImGui::InvisibleButton("histogram", ImVec2(std::max(1.0f, size.x), std::max(1.0f, size.y)));
  frame.ui.tag("statistics/histogram", fmt::format("{} bins", durations.bins().size()));
  const bool hovered = ImGui::IsItemHovered();
  list->AddRectFilled(at, ImVec2(at.x + size.x, at.y + height), p.background);
  if (durations.count() == 0) return;

  const auto least =
      static_cast<double>(Durations::range_of(Durations::bin_of(durations.least_ns())).first);
  const auto most =
      static_cast<double>(Durations::range_of(Durations::bin_of(durations.most_ns())).second);
  const DurationAxis axis(least, most, at.x + frame.ui.px(2), size.x - frame.ui.px(4));
  const std::vector<HistogramBar> bars = histogram_bars(durations, axis, frame.ui.px(3));
  int64_t highest = 1;
  for (const HistogramBar& bar : bars) highest = std::max(highest, bar.count);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  for (const HistogramBar& bar : bars) {
    const float share = static_cast<float>(bar.count) / static_cast<float>(highest);
    // Rare durations stay visible.
    const float top = at.y + height - std::max(frame.ui.px(2), share * (height - frame.ui.px(4)));
    const bool under = hovered && mouse.x >= bar.left && mouse.x < bar.right;
    list->AddRectFilled(ImVec2(bar.left, top),
                        ImVec2(std::max(bar.left + 1, bar.right - 1), at.y + height),
                        under ? mixed(colour, p.text_strong, 0.35f) : colour);
    if (under)
      Ui::tooltip("%s to %s: %lld of %lld times (%.1f %%)", time_text(bar.from_ns).c_str(),
                  time_text(bar.to_ns).c_str(), static_cast<long long>(bar.count),
                  static_cast<long long>(durations.count()),
                  100.0 * static_cast<double>(bar.count) / static_cast<double>(durations.count()));
  }
  mark_duration(frame, list, axis.x(durations.median_ns()), at, height, p.link);
  mark_duration(frame, list, axis.x(durations.mean_ns()), at, height, p.playhead);
  const std::string first = time_text(durations.least_ns());
  const std::string last = time_text(durations.most_ns());
  const float last_width = font->CalcTextSizeA(font->FontSize, 1e6f, 0, last.c_str()).x;
  const float y = at.y + height + frame.ui.px(2);
  const bool several = durations.most_ns() > durations.least_ns();
  const float first_x = several ? at.x : at.x + (size.x - last_width) / 2;
  frame.ui.draw_text(list, ImVec2(first_x, y), p.text_dim, first, size.x / 2, font);
  if (several)
    frame.ui.draw_text(list, ImVec2(at.x + size.x - last_width, y), p.text_dim, last,
                       last_width + 2, font);
}

}  // namespace hostir::gui
