// A layout drawn to scale: shards in the colours of their ranks, copies hatched, partial sums as a
// stack of cards, bands with mesh coordinates and sizes along both sides, empty shards below.
#pragma once

#include "gui/panels/layout/layout_geometry.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

struct Area {
  ImVec2 min;
  ImVec2 max;
  float width() const { return max.x - min.x; }
  float height() const { return max.y - min.y; }
};

/// Where rank names are drawn in a shard. kCaption: below the picture, if there is only one shard.
/// kLater: the caller calls draw_shard_labels after filling the cells.
enum class LabelPlace : uint8_t { kCentre, kCorner, kCaption, kLater };

struct PictureStyle {
  LabelPlace labels = LabelPlace::kCentre;
  float most_cell = 46;  // largest cell, in pixels at scale 1
  bool captions = true;  // say which dimensions are shown
  bool fanned = false;   // spread the cards of a partial sum
  bool numbers = false;  // stretch cells so that a number fits, if possible
};

/// Space that a number needs in a cell, in pixels at scale 1, and the maximum number of cells with
/// numbers.
constexpr float kNumberWidth = 38;
constexpr float kNumberHeight = 12;
constexpr int64_t kMaxNumbers = 1024;

/// Where the picture was drawn, to map between elements and mouse positions.
struct Picture {
  ImVec2 origin;
  Fit fit;
  int64_t rows = 1;
  int64_t columns = 1;
  float bottom = 0;
  bool named_below = false;  // rank names are below the picture, not in the cells

  float width() const { return fit.cell_x * static_cast<float>(columns); }
  float height() const { return fit.cell_y * static_cast<float>(rows); }
  ImVec2 corner(int64_t row, int64_t column) const {
    return {origin.x + static_cast<float>(column) * fit.cell_x,
            origin.y + static_cast<float>(row) * fit.cell_y};
  }
};

/// Draws into the current window without moving the cursor. `name` is the prefix of its widget
/// names.
Picture draw_layout(Frame& frame, const std::string& name, const LayoutSource& source,
                    const std::vector<Shard>& shards, const Plane& plane, Area area,
                    PictureStyle style);

/// Draws shard edges in the ranks' colours and rank names, over the contents of the cells.
void draw_shard_labels(Frame& frame, const LayoutSource& source, const std::vector<Shard>& shards,
                       const Plane& plane, const Picture& picture);

/// "r0 r1 +2  x4" for copies, "S r0 + r1  x2" for addends that are each held twice, "r0, r2 != r1"
/// for copies that differ.
std::string holders_text(const Shard& shard, size_t most);

}  // namespace hostir::gui
