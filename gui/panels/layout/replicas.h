// Checks whether ranks that hold the same part of a tensor by its layout also hold the same bits.
#pragma once

#include <vector>

#include "gui/panels/layout/layout_geometry.h"
#include "gui/tree/panel.h"

namespace hostir::gui {

/// Elements compared at most, over all holders; for a larger tensor, the layout is assumed to be
/// correct.
constexpr int64_t kMaxComparedElements = 1 << 20;

/// Compares the holders of each shard and fills `Shard::versions` where they differ; `differs`
/// gets, for each shard, which of its elements are not equal on all holders (empty: all are).
/// Addends, unwritten parts and parts being written are not compared. Returns false while readings
/// are still missing: call again in the next frame.
bool compare_replicas(const Frame& frame, const TensorView& tensor, std::vector<Shard>& shards,
                      std::vector<std::vector<bool>>& differs);

}  // namespace hostir::gui
