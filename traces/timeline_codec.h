// The blocks of the stored timeline as bytes.
//
// A chunk of events is stored twice, beside the rows: as a summary of all tracks (a node per 64
// events, which is what opening reads) and, per track, as the events that are drawn. Numbers are
// variable-length differences, about 8 bytes an event. Invariant: decode(encode(x)) == x; bytes may
// be damaged: decoding checks everything, and allocates no more than the bytes could hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "interp/session/log_records.h"
#include "traces/timeline_node.h"

namespace hostir::traces {

inline constexpr size_t kEventsPerNode = 64;

/// Live bytes of one rank over 64 allocations and frees that follow each other.
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

/// What tracks, ranks and instructions may be in a chunk.
struct ChunkLimits {
  size_t track_count = 0;
  size_t rank_count = 0;
  size_t instruction_count = 0;
};

using Bytes = std::vector<std::byte>;

/// Sums up events in order of begin, points in order of time.
TrackSummary summary_of(interp::TrackId track, std::span<const TimelineEvent> events);
MemorySummary summary_of(interp::Rank rank, std::span<const interp::LogMemoryPoint> points);

Bytes encode(const ChunkSummary& summary);
Bytes encode(std::span<const TimelineEvent> events);
Bytes encode(std::span<const interp::LogMemoryPoint> points);

/// Nothing where the bytes are not what `encode` makes.
std::optional<ChunkSummary> decode_summary(std::span<const std::byte> bytes,
                                           const ChunkLimits& limits);
std::optional<std::vector<TimelineEvent>> decode_events(std::span<const std::byte> bytes,
                                                        const ChunkLimits& limits);
std::optional<std::vector<interp::LogMemoryPoint>> decode_points(std::span<const std::byte> bytes);

}  // namespace hostir::traces
