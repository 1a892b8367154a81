// What one rank holds over time: every buffer as a block, bytes by time, and totals.
//
// Computed on the log's thread from the allocs and frees. A log has no addresses, so blocks are
// placed as a lowest-gap allocator would place them; a block never moves while it is live. No
// drawing.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "interp/session/log/log_view.h"

namespace hostir::gui {

enum class HeldKind : uint8_t { kParameter, kIntermediate, kResult, kLeak };
/// "parameter", "intermediate", ...
const char* word_of(HeldKind kind);

struct HeldBlock {
  std::string name;  // tensor name, without '%'
  HeldKind kind = HeldKind::kIntermediate;
  int64_t bytes = 0;
  int64_t address = 0;                 // offset from the bottom of the picture, in bytes
  int64_t from_ns = 0;                 // for parameters: the start of the run
  int64_t to_ns = interp::kUnknownNs;  // unknown: never freed
  int64_t alloc_event = -1;            // -1: a parameter
  int64_t free_event = -1;
  int64_t count = 1;  // merged buffers with the same name that followed each other in one place
  interp::CodeIndex instruction = 0;  // the alloc
  std::string allocated_by;           // address of the alloc; empty for a parameter
  std::string over;                   // `alloc ... over`: the buffer whose memory it reuses
  std::string goes_on_as;             // the buffer that reused its memory, at `to_ns`

  bool holds_at(int64_t t_ns) const {
    return from_ns <= t_ns && (to_ns == interp::kUnknownNs || t_ns < to_ns);
  }
};

struct BlocksKey {
  interp::Rank rank = 0;
  std::vector<std::pair<std::string, int64_t>> parameters;  // name, bytes on the rank
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const BlocksKey&, const BlocksKey&) = default;
};

struct RankBlocks {
  interp::Rank rank = 0;
  interp::LogExtent extent;
  std::vector<HeldBlock> blocks;  // by bytes times time, largest first; brief ones merged
  int64_t top = 1;                // exclusive upper bound of all block addresses
  int64_t peak_bytes = 0;
  int64_t peak_ns = 0;    // when the peak was first reached
  bool returned = false;  // the rank reached its end: buffers still live are results or leaks
  bool complete = true;   // false: the log has more events than were examined
  std::vector<HeldBlock> at_peak;  // blocks live at the peak, ordered by bytes, largest first
  std::vector<HeldBlock> leaking;  // blocks neither freed nor returned, in the same order
};

/// Maximum number of events examined, over all ranks.
constexpr int64_t kMaxMemoryEvents = 1'000'000;

Expected<RankBlocks> fetch_blocks(const interp::LogView& log, const BlocksKey& key,
                                  const std::stop_token& stop);

}  // namespace hostir::gui
