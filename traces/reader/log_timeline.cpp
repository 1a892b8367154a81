// LogReader: timeline views, from memory and from the blocks stored in the log.

#include <algorithm>
#include <cmath>

#include "hostir/support/hash.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

using interp::LogMemoryPoint;

BlockCache::BlockPtr LogReader::fetch_block(int64_t row) const {
  const auto connection = pool_.acquire();
  if (!connection) return nullptr;
  auto s = (*connection)->prepare("SELECT checksum, events FROM timeline_track WHERE id = ?");
  if (!s) return nullptr;
  s->bind_int(1, row);
  const auto found = s->step();
  if (!found || !*found) return nullptr;
  const std::span<const std::byte> bytes = s->blob(1);
  if (hash_of(bytes) != static_cast<uint64_t>(s->integer(0))) return nullptr;
  BlockCache::Block block;
  if (static_cast<size_t>(row % kTracksPerChunk) < tables_.tracks.size()) {
    auto events = decode_events(bytes, chunk_limits(tables_));
    if (!events) return nullptr;
    block.events = std::move(*events);
  } else {
    auto points = decode_points(bytes);
    if (!points) return nullptr;
    block.points = std::move(*points);
  }
  return std::make_shared<const BlockCache::Block>(std::move(block));
}

std::vector<interp::TimelineSlice> LogReader::timeline(
    const interp::TimelineRequest& request) const {
  const TimelineWindow window = TimelineWindow::of(request);
  std::vector<TimelineNode> nodes;
  {
    const std::shared_lock lock(mutex_);
    if (request.track >= loaded_.timelines.size()) return {};
    if (request.track < loaded_.stored.tracks.size()) {
      loaded_.stored.tracks[request.track].collect(window, blocks_, nodes);
    }
    loaded_.timelines[request.track].collect(window, nodes);
  }
  return slices_of(nodes, window);
}

std::vector<interp::TimelineSum> LogReader::sums(int64_t from_ns, int64_t to_ns) const {
  const std::shared_lock lock(mutex_);
  std::vector<interp::TimelineSum> out;
  std::vector<InstructionSum> sums;
  for (size_t track = 0; track < loaded_.timelines.size(); ++track) {
    sums.assign(tables_.instructions.size(), {});
    if (track < loaded_.stored.tracks.size()) {
      loaded_.stored.tracks[track].sum(from_ns, to_ns, blocks_, sums);
    }
    loaded_.timelines[track].sum(from_ns, to_ns, sums);
    for (size_t i = 0; i < sums.size(); ++i) {
      if (sums[i].count == 0) continue;
      out.push_back({static_cast<interp::TrackId>(track), static_cast<interp::CodeIndex>(i),
                     sums[i].count, sums[i].busy_ns});
    }
  }
  return out;
}

Expected<void> LogReader::each_drawn(
    interp::TrackId track, int64_t from_ns, int64_t to_ns, const std::stop_token& stop,
    const std::function<void(std::span<const TimelineEvent>)>& take) const {
  std::vector<int64_t> rows;
  std::vector<TimelineEvent> later;  // copied, so that the lock is not held while `take` runs
  {
    const std::shared_lock lock(mutex_);
    if (track >= loaded_.timelines.size()) return {};
    if (track < loaded_.stored.tracks.size()) {
      rows = loaded_.stored.tracks[track].rows(from_ns, to_ns);
    }
    later = loaded_.timelines[track].events();
  }
  for (const int64_t row : rows) {
    if (stop.stop_requested()) {
      return fail(ErrorKind::kRuntime, "log_cancelled", "reading the log was cancelled");
    }
    // Bypasses the cache: a scan would replace the blocks that are in view.
    if (const BlockCache::BlockPtr block = fetch_block(row)) take(block->events);
  }
  take(later);
  return {};
}

Expected<void> LogReader::durations(interp::TrackId track, int64_t from_ns, int64_t to_ns,
                                    std::vector<interp::Durations>& by_instruction,
                                    std::stop_token stop) const {
  return each_drawn(track, from_ns, to_ns, stop, [&](std::span<const TimelineEvent> events) {
    for (const TimelineEvent& event : events) {
      if (event.begin_ns < from_ns || event.begin_ns >= to_ns) continue;
      const size_t instruction = event.instruction();
      if (instruction >= tables_.instructions.size()) continue;
      if (instruction >= by_instruction.size()) by_instruction.resize(instruction + 1);
      by_instruction[instruction].add(event.end_ns - event.begin_ns, event.id());
    }
  });
}

namespace {

/// The live bytes at the start of the range, then the peak of each column.
class Peaks {
 public:
  Peaks(int64_t from_ns, int64_t to_ns, int32_t columns)
      : from_ns_(from_ns),
        width_((static_cast<double>(to_ns) - static_cast<double>(from_ns)) /
               static_cast<double>(std::max(columns, 1))) {}
  void add(const LogMemoryPoint& point) {
    if (point.time_ns <= from_ns_) {
      out_.assign(1, point);
      return;
    }
    const double at = static_cast<double>(point.time_ns) - static_cast<double>(from_ns_);
    if (at >= next_column_ || out_.empty()) {
      out_.push_back(point);
      next_column_ = width_ > 0 ? (std::floor(at / width_) + 1) * width_ : at;
    } else if (point.live_bytes > out_.back().live_bytes) {
      out_.back() = point;
    }
  }
  std::vector<LogMemoryPoint> take() { return std::move(out_); }

 private:
  int64_t from_ns_;
  double width_;
  double next_column_ = 0;
  std::vector<LogMemoryPoint> out_;
};

}  // namespace

Expected<std::vector<LogMemoryPoint>> LogReader::memory(interp::Rank rank, int64_t from_ns,
                                                        int64_t to_ns, int32_t columns,
                                                        std::stop_token stop) const {
  if (stop.stop_requested()) {
    return fail(ErrorKind::kRuntime, "log_cancelled", "reading the log was cancelled");
  }
  const std::shared_lock lock(mutex_);
  const auto index = static_cast<size_t>(rank);
  if (rank < 0 || index >= loaded_.memory.size()) return std::vector<LogMemoryPoint>{};
  Peaks peaks(from_ns, to_ns, columns);
  std::vector<LogMemoryPoint> ready;
  const TimelineWindow window = TimelineWindow::of({0, from_ns, to_ns, std::max(columns, 1)});
  if (index < loaded_.stored.memory.size()) {
    loaded_.stored.memory[index].collect(window, blocks_, ready);
  }
  const std::vector<LogMemoryPoint>* const both[] = {&ready, &loaded_.memory[index]};
  for (const std::vector<LogMemoryPoint>* points : both) {
    for (const LogMemoryPoint& point : *points) {
      if (point.time_ns >= to_ns) break;
      peaks.add(point);
    }
  }
  return peaks.take();
}

}  // namespace hostir::traces
