// A layout drawn to scale: shards in the colours of their ranks, copies hatched, partial sums as a
// stack of cards, bands with mesh coordinates and sizes along both sides, empty shards below.
#pragma once

#include "gui/panel.h"
#include "gui/panels/layout_geometry.h"

namespace hostir::gui {

struct Area {
  ImVec2 min;
  ImVec2 max;
  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
};

/// Of the ranks' names in a shard; kCaption: below the picture, of its only shard; kLater:
/// draw_shard_labels is called when the cells are filled.
enum class LabelPlace : uint8_t { kCentre, kCorner, kCaption, kLater };

struct PictureStyle {
  LabelPlace labels = LabelPlace::kCentre;
  float most_cell = 46;  // pixels at scale 1
  bool captions = true;  // which dimensions are shown
  bool fanned = false;   // the cards of a partial sum are spread
  bool numbers = false;  // cells are stretched so that a number fits, if that is possible
};

/// What a number in a cell needs, in pixels at scale 1, and how many cells get numbers.
constexpr float kNumberWidth = 38;
constexpr float kNumberHeight = 12;
constexpr int64_t kMaxNumbers = 1024;

/// Where the picture was drawn, for elements and the mouse.
struct Picture {
  ImVec2 origin;
  Fit fit;
  int64_t rows = 1;
  int64_t columns = 1;
  float bottom = 0;
  bool named_below = false;  // no names of ranks in the cells

  float width() const { return fit.cell_x * static_cast<float>(columns); }
  float height() const { return fit.cell_y * static_cast<float>(rows); }
  ImVec2 corner(int64_t row, int64_t column) const {
    return {origin.x + static_cast<float>(column) * fit.cell_x,
            origin.y + static_cast<float>(row) * fit.cell_y};
  }
};

/// Draws into the current window; the cursor does not move. `name` begins the names of its widgets.
Picture draw_layout(Frame& frame, const std::string& name, const LayoutSource& source,
                    const std::vector<Shard>& shards, const Plane& plane, Area area,
                    PictureStyle style);

/// Edges in the ranks' colours and their names, over what was drawn into the cells.
void draw_shard_labels(Frame& frame, const LayoutSource& source, const std::vector<Shard>& shards,
                       const Plane& plane, const Picture& picture);

/// "r0 r1 +2  x4" of copies, "S r0 + r1  x2" of addends that are held twice each.
std::string holders_text(const Shard& shard, size_t most);

}  // namespace hostir::gui
