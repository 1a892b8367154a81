// Tensor values as colours: in the cells of the layout picture, and as one small picture per rank.
//
// Everything drawn together uses one colour range, so that ranks can be compared. A tensor with too
// many elements is not read, and the picture says so.
#pragma once

#include "gui/panels/layout/layout_picture.h"

namespace hostir::gui {

struct HeatRange {
  double min = 0;
  double max = 1;
  void add(double v);
  void add(const Tensor& tensor);
  bool any = false;
};

/// Colours the cells of `box` in a picture of the plane. The box has one element in every dimension
/// that is not shown.
void draw_heat(Frame& frame, const Tensor& tensor, const Box& box, const Plane& plane,
               ImVec2 origin, ImVec2 cell, const Box& shown, const HeatRange& range);

/// The same for a plane with more elements than pixels: each cell is the mean of its elements, or
/// NaN or Inf if it contains one.
struct HeatGrid {
  int rows = 0;
  int columns = 0;
  std::vector<double> mean;  // row-major; NaN and Inf are kept
  HeatRange range;
};
HeatGrid coarse_grid(const Tensor& tensor, const Box& box, const Plane& plane, int rows,
                     int columns);
void draw_grid(Frame& frame, const HeatGrid& grid, ImVec2 from, ImVec2 to);

/// One picture per rank that holds the tensor, all with the same range, starting at the cursor.
void draw_rank_heats(Frame& frame, const TensorView& tensor, const Plane& plane);

constexpr int64_t kMaxHeatCells = 4096;
constexpr int64_t kMaxHeatElements = 1 << 20;  // of a coarse picture, which scans all of them

}  // namespace hostir::gui
