// Encodes the blocks of the stored timeline as bytes.
//
// A chunk of events is stored in two more forms, beside the rows: as a summary of all tracks (a
// node per 64 events, read on opening) and, per track, as the drawn events. Numbers are
// variable-length differences, about 8 bytes per event. Invariant: decode(encode(x)) == x. Bytes
// may be damaged: decoding checks everything, and allocates no more than the bytes could contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "interp/session/log/log_records.h"
#include "traces/timeline/timeline_node.h"

namespace hostir::traces {

inline constexpr size_t kEventsPerNode = 64;

/// Live bytes of one rank over 64 consecutive allocations and frees.
struct MemoryNode {
  int64_t begin_ns = 0;
  interp::LogMemoryPoint peak;
  interp::LogMemoryPoint last;
};

struct TrackSummary {
  interp::TrackId track = 0;
  std::vector<TimelineNode> nodes;
  std::vector<InstructionSum> sums;
};
struct MemorySummary {
  interp::Rank rank = 0;
  std::vector<MemoryNode> nodes;
};
struct ChunkSummary {
  std::vector<TrackSummary> tracks;   // those with events
  std::vector<MemorySummary> memory;  // those with points
};

/// Valid tracks, ranks and instructions of a chunk.
struct ChunkLimits {
  size_t track_count = 0;
  size_t rank_count = 0;
  size_t instruction_count = 0;
};

using Bytes = std::vector<std::byte>;

/// Summarises events in order of begin, and points in order of time.
TrackSummary summary_of(interp::TrackId track, std::span<const TimelineEvent> events);
MemorySummary summary_of(interp::Rank rank, std::span<const interp::LogMemoryPoint> points);

Bytes encode(const ChunkSummary& summary);
Bytes encode(std::span<const TimelineEvent> events);
Bytes encode(std::span<const interp::LogMemoryPoint> points);

/// nullopt if the bytes are not the output of `encode`.
std::optional<ChunkSummary> decode_summary(std::span<const std::byte> bytes,
                                           const ChunkLimits& limits);
std::optional<std::vector<TimelineEvent>> decode_events(std::span<const std::byte> bytes,
                                                        const ChunkLimits& limits);
std::optional<std::vector<interp::LogMemoryPoint>> decode_points(std::span<const std::byte> bytes);

}  // namespace hostir::traces
