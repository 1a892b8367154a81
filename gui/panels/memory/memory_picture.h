// Memory over time: live bytes of all ranks as lines, and below them the blocks of one rank.
//
// Both share the time axis. This code does not query the log; it changes the model only by hovering
// and clicking. A frame draws at most `kMaxLines` lines with `kMaxPoints` points in total, and
// `kMaxBlocks` rectangles.
#pragma once

#include <vector>

#include "gui/panels/memory/memory_blocks.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

/// Live bytes over time for the first ranks.
struct MemoryLines {
  interp::LogExtent extent;
  std::vector<std::vector<interp::LogMemoryPoint>> by_rank;
  std::vector<int32_t>
      same_as;  // by rank: the first rank with an identical line, or the rank itself
};
/// Maximum number of ranks drawn; more lines cannot be told apart.
constexpr int kMaxLines = 16;
constexpr int kMaxPoints = 3000;

Expected<MemoryLines> fetch_lines(const interp::LogView& log, int ranks, int columns,
                                  const std::stop_token& stop);

class MemoryPicture {
 public:
  MemoryPicture(Frame& frame, const interp::LogExtent& extent, float width);

  /// Each draws at the cursor and takes its height. `before`: bytes that each rank holds before its
  /// first alloc.
  void lines(const MemoryLines& data, const std::vector<int64_t>& before, float height) const;
  void axis() const;
  void blocks(const RankBlocks& data, float height) const;
  /// Explains the block colours.
  void legend() const;

 private:
  static constexpr size_t kMaxBlocks = 3000;
  static constexpr int kMaxHatched = 60;
  static constexpr size_t kMaxNamed = 200;  // blocks that tests and scripts can click
  float x(int64_t t_ns) const;
  ImU32 colour(HeldKind kind) const;
  void playhead(ImVec2 at, float height) const;
  void hover_line(const MemoryLines& data, ImVec2 at) const;
  void hover_block(const RankBlocks& data, const HeldBlock& block) const;

  Frame& frame_;
  int64_t begin_ns_;
  double span_;
  float left_;
  float width_;
};

}  // namespace hostir::gui
