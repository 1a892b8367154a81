#include "traces/timeline/timeline_codec.h"

#include <algorithm>

namespace hostir::traces {

using interp::LogMemoryPoint;

namespace {

class Writer {
 public:
  explicit Writer(size_t expected_bytes) { bytes_.reserve(expected_bytes); }
  void put(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<std::byte>(value | 0x80));
    bytes_.push_back(static_cast<std::byte>(value));
  }
  void put(int64_t value) { put(static_cast<uint64_t>(value)); }  // mostly small and nonnegative
  void put_signed(int64_t value) {
    put((static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63));
  }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// After the first invalid value, returns only 0 and `good()` is false.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}
  bool good() const { return good_; }
  bool at_end() const { return good_ && at_ == bytes_.size(); }
  void fail() { good_ = false; }

  uint64_t get() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
      const auto byte = static_cast<uint64_t>(bytes_[at_++]);
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    good_ = false;
    return 0;
  }
  int64_t get_signed() {
    const uint64_t value = get();
    return static_cast<int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }
  /// A number below `end`.
  size_t get_index(size_t end) {
    const uint64_t value = get();
    if (value < end) return static_cast<size_t>(value);
    good_ = false;
    return 0;
  }
  /// The number of items that take at least `least_bytes` each.
  size_t get_count(size_t least_bytes) {
    return get_index((bytes_.size() - at_) / least_bytes + 1);
  }
  /// A nonnegative time within limits.
  int64_t get_time() { return static_cast<int64_t>(get_index(size_t{kMaxTimelineNs})); }
  /// `base` plus a difference, within limits.
  int64_t get_from(int64_t base) {
    const auto sum =
        static_cast<int64_t>(static_cast<uint64_t>(base) + static_cast<uint64_t>(get_signed()));
    if (is_sane_time(sum)) return sum;
    good_ = false;
    return 0;
  }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool good_ = true;
};

void put_what(Writer& out, uint64_t what, int64_t& last_id) {
  const TimelineEvent event{0, 0, what};
  out.put_signed(event.id() - last_id);
  out.put(uint64_t{event.instruction()});
  last_id = event.id();
}

uint64_t get_what(Reader& in, const ChunkLimits& limits, int64_t& last_id) {
  const int64_t id = in.get_from(last_id);
  const size_t instruction = in.get_index(
      std::min<size_t>(limits.instruction_count, size_t{TimelineEvent::kMaxInstruction} + 1));
  if (id < 0 || id > TimelineEvent::kMaxId) in.fail();
  last_id = id;
  return in.good() ? static_cast<uint64_t>(id) << 24 | instruction : 0;
}

void put_point(Writer& out, const LogMemoryPoint& point, LogMemoryPoint& last) {
  out.put_signed(point.time_ns - last.time_ns);
  out.put_signed(point.live_bytes - last.live_bytes);
  out.put_signed(point.event - last.event);
  last = point;
}

LogMemoryPoint get_point(Reader& in, LogMemoryPoint& last) {
  last = {in.get_from(last.time_ns), in.get_from(last.live_bytes), in.get_from(last.event)};
  return last;
}

void put_nodes(Writer& out, std::span<const TimelineNode> nodes) {
  int64_t last_begin = 0;
  int64_t last_id = 0;
  for (const TimelineNode& n : nodes) {
    out.put_signed(n.begin_ns - last_begin);
    last_begin = n.begin_ns;
    out.put(n.end_ns - n.begin_ns);
    out.put(n.busy_ns);
    out.put(n.longest_ns);
    put_what(out, n.what, last_id);
    out.put(n.count);
  }
}

std::vector<TimelineNode> get_nodes(Reader& in, const ChunkLimits& limits) {
  constexpr size_t kLeastBytes = 7;
  std::vector<TimelineNode> nodes(in.get_count(kLeastBytes));
  int64_t last_begin = 0;
  int64_t last_id = 0;
  for (TimelineNode& n : nodes) {
    n.begin_ns = last_begin = in.get_from(last_begin);
    n.end_ns = n.begin_ns + in.get_time();
    n.busy_ns = in.get_time();
    n.longest_ns = in.get_time();
    n.what = get_what(in, limits, last_id);
    n.count = static_cast<int64_t>(in.get_index(kEventsPerNode + 1));
    if (!is_sane_time(n.end_ns)) in.fail();
    if (!in.good()) return {};
  }
  return nodes;
}

}  // namespace

TrackSummary summary_of(interp::TrackId track, std::span<const TimelineEvent> events) {
  TrackSummary summary{track, {}, {}};
  for (size_t i = 0; i < events.size(); ++i) {
    const TimelineNode node = TimelineNode::of(events[i]);
    if (i % kEventsPerNode == 0) {
      summary.nodes.push_back(node);
    } else {
      summary.nodes.back().add(node);
    }
  }
  std::vector<int64_t> place;  // in `sums`, by instruction
  for (const TimelineEvent& event : events) {
    const size_t instruction = event.instruction();
    if (instruction >= place.size()) place.resize(instruction + 1, -1);
    if (place[instruction] < 0) {
      place[instruction] = static_cast<int64_t>(summary.sums.size());
      summary.sums.push_back({event.instruction(), 0, 0});
    }
    InstructionSum& sum = summary.sums[static_cast<size_t>(place[instruction])];
    ++sum.count;
    sum.busy_ns = std::min(sum.busy_ns + (event.end_ns - event.begin_ns), kMaxTimelineNs - 1);
  }
  for (TimelineNode& n : summary.nodes) n.busy_ns = std::min(n.busy_ns, kMaxTimelineNs - 1);
  return summary;
}

MemorySummary summary_of(interp::Rank rank, std::span<const LogMemoryPoint> points) {
  MemorySummary summary{rank, {}};
  for (size_t i = 0; i < points.size(); ++i) {
    const LogMemoryPoint& point = points[i];
    if (i % kEventsPerNode == 0) summary.nodes.push_back({point.time_ns, point, point});
    MemoryNode& node = summary.nodes.back();
    if (point.live_bytes > node.peak.live_bytes) node.peak = point;
    node.last = point;
  }
  return summary;
}

Bytes encode(const ChunkSummary& summary) {
  Writer out(4096);
  out.put(uint64_t{summary.tracks.size()});
  for (const TrackSummary& track : summary.tracks) {
    out.put(uint64_t{track.track});
    out.put(uint64_t{track.nodes.size()});
    put_nodes(out, track.nodes);
    out.put(uint64_t{track.sums.size()});
    for (const InstructionSum& sum : track.sums) {
      out.put(uint64_t{sum.instruction});
      out.put(sum.count);
      out.put(sum.busy_ns);
    }
  }
  out.put(uint64_t{summary.memory.size()});
  for (const MemorySummary& memory : summary.memory) {
    out.put(int64_t{memory.rank});
    out.put(uint64_t{memory.nodes.size()});
    LogMemoryPoint last;
    for (const MemoryNode& node : memory.nodes) {
      out.put_signed(node.begin_ns - last.time_ns);
      put_point(out, node.peak, last);
      put_point(out, node.last, last);
    }
  }
  return out.take();
}

Bytes encode(std::span<const TimelineEvent> events) {
  Writer out(events.size() * 10 + 16);
  out.put(uint64_t{events.size()});
  int64_t last_begin = 0;
  int64_t last_id = 0;
  for (const TimelineEvent& event : events) {
    out.put_signed(event.begin_ns - last_begin);
    last_begin = event.begin_ns;
    out.put(event.end_ns - event.begin_ns);
    put_what(out, event.what, last_id);
  }
  return out.take();
}

Bytes encode(std::span<const LogMemoryPoint> points) {
  Writer out(points.size() * 10 + 16);
  out.put(uint64_t{points.size()});
  LogMemoryPoint last;
  for (const LogMemoryPoint& point : points) put_point(out, point, last);
  return out.take();
}

std::optional<ChunkSummary> decode_summary(std::span<const std::byte> bytes,
                                           const ChunkLimits& limits) {
  constexpr size_t kLeastTrackBytes = 3, kLeastSumBytes = 3, kLeastNodeBytes = 7;
  Reader in(bytes);
  ChunkSummary summary;
  summary.tracks.resize(in.get_count(kLeastTrackBytes));
  for (TrackSummary& track : summary.tracks) {
    track.track = static_cast<interp::TrackId>(in.get_index(limits.track_count));
    track.nodes = get_nodes(in, limits);
    track.sums.resize(in.get_count(kLeastSumBytes));
    for (InstructionSum& sum : track.sums) {
      sum.instruction = static_cast<interp::CodeIndex>(in.get_index(limits.instruction_count));
      sum.count = in.get_time();
      sum.busy_ns = in.get_time();
    }
    if (!in.good()) return std::nullopt;
  }
  summary.memory.resize(in.get_count(2));
  for (MemorySummary& memory : summary.memory) {
    memory.rank = static_cast<interp::Rank>(in.get_index(limits.rank_count));
    memory.nodes.resize(in.get_count(kLeastNodeBytes));
    LogMemoryPoint last;
    for (MemoryNode& node : memory.nodes) {
      node.begin_ns = in.get_from(last.time_ns);
      node.peak = get_point(in, last);
      node.last = get_point(in, last);
    }
    if (!in.good()) return std::nullopt;
  }
  if (!in.at_end()) return std::nullopt;
  return summary;
}

std::optional<std::vector<TimelineEvent>> decode_events(std::span<const std::byte> bytes,
                                                        const ChunkLimits& limits) {
  constexpr size_t kLeastBytes = 4;
  Reader in(bytes);
  std::vector<TimelineEvent> events(in.get_count(kLeastBytes));
  int64_t last_begin = 0;
  int64_t last_id = 0;
  for (TimelineEvent& event : events) {
    event.begin_ns = last_begin = in.get_from(last_begin);
    event.end_ns = event.begin_ns + in.get_time();
    event.what = get_what(in, limits, last_id);
    if (!in.good() || !is_sane_time(event.end_ns)) return std::nullopt;
  }
  if (!in.at_end()) return std::nullopt;
  return events;
}

std::optional<std::vector<LogMemoryPoint>> decode_points(std::span<const std::byte> bytes) {
  constexpr size_t kLeastBytes = 3;
  Reader in(bytes);
  std::vector<LogMemoryPoint> points(in.get_count(kLeastBytes));
  LogMemoryPoint last;
  for (LogMemoryPoint& point : points) {
    point = get_point(in, last);
    if (!in.good()) return std::nullopt;
  }
  if (!in.at_end()) return std::nullopt;
  return points;
}

}  // namespace hostir::traces
