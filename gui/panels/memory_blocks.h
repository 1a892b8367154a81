// What one rank held when: every buffer as a block, bytes by time, and what that adds up to.
//
// Made on the log's thread from the allocs and frees. A log has no addresses: blocks stand where an
// allocator that takes the lowest gap would put them, so that a block never moves while it lives.
// No drawing.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "interp/session/log_view.h"

namespace hostir::gui {

enum class HeldKind : uint8_t { kParameter, kIntermediate, kResult, kLeak };
/// "parameter", "intermediate", ...
const char* word_of(HeldKind kind);

struct HeldBlock {
  std::string name;  // of the tensor, without '%'
  HeldKind kind = HeldKind::kIntermediate;
  int64_t bytes = 0;
  int64_t address = 0;                 // bytes from the bottom of the picture
  int64_t from_ns = 0;                 // parameters: the begin of the run
  int64_t to_ns = interp::kUnknownNs;  // unknown: it was not freed
  int64_t alloc_event = -1;            // -1: a parameter
  int64_t free_event = -1;
  int64_t count = 1;                  // buffers of one name that followed each other in one place
  interp::CodeIndex instruction = 0;  // the alloc
  std::string allocated_by;           // its address; empty: a parameter
  std::string over;                   // `alloc ... over`: the buffer whose memory it took
  std::string goes_on_as;             // the buffer that took its memory, at `to_ns`

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
  std::vector<HeldBlock> blocks;  // the largest first: bytes times time; brief ones joined
  int64_t top = 1;                // address that no block reaches beyond
  int64_t peak_bytes = 0;
  int64_t peak_ns = 0;             // when it was reached first
  int64_t peak_event = -1;         // the alloc that reached it; -1: the parameters did
  bool returned = false;           // the rank came to its end: what lives then is a result or leaks
  bool complete = true;            // false: the log has more events than were looked at
  std::vector<HeldBlock> at_peak;  // those that held the peak, the largest in bytes first
  std::vector<HeldBlock> leaking;  // those that were never freed nor returned, the same
};

/// Events of all ranks that are looked at; their allocs and frees are shown.
constexpr int64_t kMaxMemoryEvents = 1'000'000;

Expected<RankBlocks> fetch_blocks(const interp::LogView& log, const BlocksKey& key,
                                  const std::stop_token& stop);

}  // namespace hostir::gui
