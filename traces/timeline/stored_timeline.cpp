#include "traces/timeline/stored_timeline.h"

#include <algorithm>

namespace hostir::traces {

BlockCache::BlockPtr BlockCache::get(int64_t row) {
  const std::scoped_lock lock(mutex_);
  const auto known = by_row_.find(row);
  if (known != by_row_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    return known->second->block;
  }
  BlockPtr block = fetch_(row);
  const size_t bytes = block == nullptr ? 0
                                        : block->events.size() * sizeof(TimelineEvent) +
                                              block->points.size() * sizeof(interp::LogMemoryPoint);
  constexpr size_t kEntryBytes = 128;
  entries_.push_front({row, block, bytes + kEntryBytes});
  by_row_[row] = entries_.begin();
  bytes_ += entries_.front().bytes;
  while (bytes_ > kMaxBytes && entries_.size() > 1) {
    bytes_ -= entries_.back().bytes;
    by_row_.erase(entries_.back().row);
    entries_.pop_back();
  }
  return block;
}

void StoredTrack::add(int64_t row, TrackSummary summary) {
  if (summary.nodes.empty()) return;
  Stretch stretch{row, nodes_.size(),          nodes_.size() + summary.nodes.size(), 0,
                  0,   std::move(summary.sums)};
  stretch.begin_ns = summary.nodes.front().begin_ns;
  stretch.end_ns = summary.nodes.front().end_ns;
  for (const TimelineNode& n : summary.nodes) {
    stretch.begin_ns = std::min(stretch.begin_ns, n.begin_ns);
    stretch.end_ns = std::max(stretch.end_ns, n.end_ns);
  }
  begin_ns_ = empty() ? stretch.begin_ns : std::min(begin_ns_, stretch.begin_ns);
  end_ns_ = empty() ? stretch.end_ns : std::max(end_ns_, stretch.end_ns);
  nodes_.insert(nodes_.end(), summary.nodes.begin(), summary.nodes.end());
  stretches_.push_back(std::move(stretch));
}

void StoredTrack::build() {
  levels_.clear();
  const std::vector<TimelineNode>* below = &nodes_;
  while (below->size() > 1) {
    std::vector<TimelineNode> level;
    level.reserve(below->size() / kFactor + 1);
    for (size_t i = 0; i < below->size(); ++i) {
      if (i % kFactor == 0) {
        level.push_back((*below)[i]);
      } else {
        level.back().add((*below)[i]);
      }
    }
    levels_.push_back(std::move(level));
    below = &levels_.back();
  }
}

void StoredTrack::collect(const TimelineWindow& window, BlockCache& blocks,
                          std::vector<TimelineNode>& out) const {
  if (!empty() && !window.empty()) descend(window, levels_.size(), 0, blocks, out);
}

void StoredTrack::descend(const TimelineWindow& window, size_t level, size_t index,
                          BlockCache& blocks, std::vector<TimelineNode>& out) const {
  const TimelineNode& n = level == 0 ? nodes_[index] : levels_[level - 1][index];
  if (!window.shows(n.begin_ns, n.end_ns)) return;
  if (n.count == 1 || n.end_ns - n.begin_ns <= window.column_ns) {
    out.push_back(n);
  } else if (level == 0) {
    collect_events(window, index, blocks, out);
  } else {
    const size_t below = level == 1 ? nodes_.size() : levels_[level - 2].size();
    const size_t last = std::min((index + 1) * kFactor, below);
    for (size_t i = index * kFactor; i < last; ++i) descend(window, level - 1, i, blocks, out);
  }
}

void StoredTrack::collect_events(const TimelineWindow& window, size_t node, BlockCache& blocks,
                                 std::vector<TimelineNode>& out) const {
  const auto stretch =
      std::upper_bound(stretches_.begin(), stretches_.end(), node,
                       [](size_t wanted, const Stretch& s) { return wanted < s.last_node; });
  const BlockCache::BlockPtr block =
      stretch == stretches_.end() ? nullptr : blocks.get(stretch->row);
  const size_t first =
      stretch == stretches_.end() ? 0 : (node - stretch->first_node) * kEventsPerNode;
  if (block == nullptr || first >= block->events.size()) return out.push_back(nodes_[node]);
  const size_t last = std::min(first + kEventsPerNode, block->events.size());
  for (size_t i = first; i < last; ++i) {
    const TimelineEvent& event = block->events[i];
    if (window.shows(event.begin_ns, event.end_ns)) out.push_back(TimelineNode::of(event));
  }
}

void StoredTrack::sum(int64_t from_ns, int64_t to_ns, BlockCache& blocks,
                      std::vector<InstructionSum>& sums) const {
  if (to_ns <= from_ns) return;
  for (const Stretch& stretch : stretches_) {
    if (stretch.begin_ns >= to_ns || stretch.end_ns < from_ns) continue;
    if (stretch.begin_ns >= from_ns && stretch.end_ns < to_ns) {
      for (const InstructionSum& s : stretch.sums) {
        if (s.instruction >= sums.size()) continue;
        InstructionSum& sum = sums[s.instruction];
        sum.count = std::min(sum.count + s.count, kMaxTimelineNs);
        sum.busy_ns = std::min(sum.busy_ns + s.busy_ns, kMaxTimelineNs);
      }
    } else if (const auto block = blocks.get(stretch.row)) {
      for (const TimelineEvent& event : block->events) add_clipped(event, from_ns, to_ns, sums);
    }
  }
}

std::vector<int64_t> StoredTrack::rows(int64_t from_ns, int64_t to_ns) const {
  std::vector<int64_t> out;
  for (const Stretch& stretch : stretches_) {
    if (stretch.begin_ns < to_ns && stretch.end_ns >= from_ns) out.push_back(stretch.row);
  }
  return out;
}

void StoredMemory::add(int64_t row, MemorySummary summary) {
  uint32_t index = 0;
  for (const MemoryNode& node : summary.nodes) nodes_.push_back({node, row, index++});
}

void StoredMemory::collect(const TimelineWindow& window, BlockCache& blocks,
                           std::vector<interp::LogMemoryPoint>& out) const {
  for (const Node& node : nodes_) {
    const MemoryNode& sum = node.sum;
    if (sum.begin_ns >= window.to_ns) return;
    if (sum.last.time_ns <= window.from_ns) {
      out.assign(1, sum.last);
      continue;
    }
    const bool inside = sum.begin_ns > window.from_ns && sum.last.time_ns < window.to_ns;
    const BlockCache::BlockPtr block = inside && sum.last.time_ns - sum.begin_ns <= window.column_ns
                                           ? nullptr
                                           : blocks.get(node.row);
    const size_t first = node.index * kEventsPerNode;
    if (block == nullptr || first >= block->points.size()) {
      out.push_back(sum.peak);
      if (sum.last.time_ns != sum.peak.time_ns) out.push_back(sum.last);
      continue;
    }
    const size_t last = std::min(first + kEventsPerNode, block->points.size());
    out.insert(out.end(), block->points.begin() + static_cast<std::ptrdiff_t>(first),
               block->points.begin() + static_cast<std::ptrdiff_t>(last));
  }
}

}  // namespace hostir::traces
