// The timeline stored in a log: summaries in memory, events read when a view needs them.
//
// One object for all tracks of a log. `add_chunk` adds what is read on opening. Views descend the
// levels and fetch the events of a stretch, through a cache of bounded size, only where a node has
// more events than can be summarised in a pixel. Memory: about a byte per event. Damaged blocks of
// events are shown by their sums.
// Threads: after the last `add_chunk`, views may be called from any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "traces/timeline/timeline_codec.h"

namespace hostir::traces {

/// Fetches and caches blocks of events by their row in `timeline_track`.
class BlockCache {
 public:
  struct Block {
    std::vector<TimelineEvent> events;
    std::vector<interp::LogMemoryPoint> points;
  };
  using BlockPtr = std::shared_ptr<const Block>;  // immutable; nullptr: damaged
  using Fetch = std::function<BlockPtr(int64_t row)>;

  explicit BlockCache(Fetch fetch) : fetch_(std::move(fetch)) {}
  BlockPtr get(int64_t row);

 private:
  static constexpr size_t kMaxBytes = size_t{48} << 20;
  struct Entry {
    int64_t row;
    BlockPtr block;
    size_t bytes;
  };
  Fetch fetch_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // most recently used first
  std::map<int64_t, std::list<Entry>::iterator> by_row_;
  size_t bytes_ = 0;
};

/// One track.
class StoredTrack {
 public:
  void add(int64_t row, TrackSummary summary);
  /// Builds the upper levels; call after the last `add` and before views.
  void build();
  bool empty() const { return nodes_.empty(); }
  int64_t begin_ns() const { return begin_ns_; }
  int64_t end_ns() const { return end_ns_; }

  /// Appends the nodes for a view of the window to `out`; in order except for late events.
  void collect(const TimelineWindow& window, BlockCache& blocks,
               std::vector<TimelineNode>& out) const;
  void sum(int64_t from_ns, int64_t to_ns, BlockCache& blocks,
           std::vector<InstructionSum>& sums) const;
  /// The rows of the blocks with events in [from, to).
  std::vector<int64_t> rows(int64_t from_ns, int64_t to_ns) const;

 private:
  struct Stretch {  // events of one chunk
    int64_t row;
    size_t first_node;
    size_t last_node;
    int64_t begin_ns;
    int64_t end_ns;
    std::vector<InstructionSum> sums;
  };
  static constexpr size_t kFactor = 8;
  void descend(const TimelineWindow& window, size_t level, size_t index, BlockCache& blocks,
               std::vector<TimelineNode>& out) const;
  void collect_events(const TimelineWindow& window, size_t node, BlockCache& blocks,
                      std::vector<TimelineNode>& out) const;

  std::vector<TimelineNode> nodes_;                // of 64 events each, all chunks
  std::vector<std::vector<TimelineNode>> levels_;  // levels_[0] sums up nodes_
  std::vector<Stretch> stretches_;                 // in order of nodes
  int64_t begin_ns_ = 0;
  int64_t end_ns_ = 0;
};

/// Live bytes of one rank.
class StoredMemory {
 public:
  void add(int64_t row, MemorySummary summary);
  /// The points that determine the peaks of columns of this width: at most a few per column, and
  /// the last one before the window.
  void collect(const TimelineWindow& window, BlockCache& blocks,
               std::vector<interp::LogMemoryPoint>& out) const;

 private:
  struct Node {
    MemoryNode sum;
    int64_t row;
    uint32_t index;  // index within its row
  };
  std::vector<Node> nodes_;
};

}  // namespace hostir::traces
