// Two tensors and their difference as heat maps: A, B and B - A, with a common zoom.
//
// The cells are computed on a worker thread. For a large tensor, each cell shows the element with
// the largest difference in its area. Rows are all dimensions except the last; a long vector is
// folded into several rows.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "gui/tree/panel.h"

namespace hostir::gui {

/// A section of the picture, in elements; half-open ranges.
struct HeatWindow {
  int64_t row0 = 0, row1 = 0, column0 = 0, column1 = 0;
  friend bool operator==(const HeatWindow&, const HeatWindow&) = default;
};

struct HeatCell {
  int64_t index = -1;  // row-major in the rank's part; -1: past the end
  double a = 0;
  double b = 0;
  double difference = 0;  // b - a, exact for integers; NaN: NaN in only one of them
};

struct DiffHeat {
  std::shared_ptr<const DiffContents> contents;
  HeatWindow window;
  int64_t rows = 0, columns = 0;  // of the whole picture, in elements
  int cell_rows = 0, cell_columns = 0;
  std::vector<HeatCell> cells;
  double low = 0, high = 0;  // range of the finite values of both
  double largest = 0;        // largest finite |b - a|
};

inline constexpr int kHeatSide = 56;  // cells along a side

/// An empty window means the whole picture. If stopped by `stop`, the cells are incomplete.
DiffHeat make_diff_heat(std::shared_ptr<const DiffContents> contents, HeatWindow window,
                        const std::stop_token& stop = {});

class DiffPictures {
 public:
  void draw(Frame& frame, const std::string& name_a, const std::string& name_b);

 private:
  enum class Picture : uint8_t { kA, kB, kDifference };
  struct State {
    std::shared_ptr<const DiffHeat> heat;
    bool asked = false;
    HeatWindow asked_window;
    const void* asked_of = nullptr;
  };
  void update(Frame& frame);
  void draw_picture(Frame& frame, Picture picture, const std::string& caption, ImVec2 at,
                    float side, float width);
  /// Side of a cell, in pixels.
  static float cell_side(Frame& frame, const DiffHeat& heat, ImVec2 size);
  void move(Frame& frame, ImVec2 from, float cell);
  void draw_element(Frame& frame) const;
  static ImU32 colour(const Palette& palette, const DiffHeat& heat, const HeatCell& cell,
                      Picture picture);

  std::shared_ptr<State> state_ = std::make_shared<State>();
  HeatWindow window_;  // requested window; empty: everything
  const void* window_of_ = nullptr;
  int64_t pointed_ = -1;  // element under the pointer
  double dragged_x_ = 0, dragged_y_ = 0;
};

/// Text for the element under the pointer; if `index` is -1, for the largest difference.
std::string describe_pointed(const DiffContents& contents, int64_t index);
/// `[0, 2, 5]: 1.25 in A, 1.5 in B, |a - b| = 0.25, relative 0.17, 2097152 ulp`
std::string describe_element(const DiffContents& contents, int64_t index);

}  // namespace hostir::gui
