// The tasks of one rank that can still be referenced.
//
// Task numbers ascend in order of issue. The table is a vector: survivors of earlier compactions
// first (sorted, with gaps), then a dense tail. `compact` drops tasks that have finished and whose
// event no register holds. It runs when the table has doubled, so that adding is O(1) amortised and
// a saved state stays small. Each task has a clock row: for every stream of the rank, the number of
// its tasks that happen before this one (itself included). Clock rows are padded to at least
// kInlineStreams entries, so that the common row is one fixed-size copy.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct TaskRecord {
  static constexpr int64_t kPending = INT64_MIN;
  uint64_t number = 0;
  CodeIndex code = 0;
  LoopPathId loop_path = 0;
  StreamIndex stream = 0;
  uint32_t sequence = 0;  // on its stream, from 1
  int64_t issued_ns = 0;
  int64_t started_ns = 0;
  int64_t finished_ns = kPending;
  int64_t alloc_bytes = 0;  // alloc: +bytes, free: -bytes
  CommIndex comm = kNoComm;
  enum class Link : uint8_t { kNone, kMeeting, kPair, kGroup } link = Link::kNone;
  uint64_t comm_sequence = 0;
  static constexpr size_t kInlineStreams = 4;
  std::array<uint32_t, kInlineStreams> clock{};  // for ranks with few streams
  bool finished() const { return finished_ns != kPending; }
};

/// An issued dependency of a task, kept while the task is in flight.
struct TaskDependency {
  uint64_t task = 0;  // number of the waiting task
  TaskId on = kNoTask;
};

class TaskTable {
 public:
  static constexpr size_t kFewest = 256;  // below this size nothing is dropped
  explicit TaskTable(size_t streams = 0) : streams_(streams) {}

  uint64_t next_number() const { return next_; }
  /// `clock`: a padded row, `clock_stride` entries.
  TaskRecord& add(const uint32_t* clock) {
    TaskRecord& task = tasks_.emplace_back();
    task.number = next_++;
    if (streams_ <= TaskRecord::kInlineStreams) {
      std::memcpy(task.clock.data(), clock, sizeof(task.clock));
    } else {
      clocks_.insert(clocks_.end(), clock, clock + streams_);
    }
    return task;
  }
  static size_t clock_stride(size_t streams) {
    return std::max(streams, TaskRecord::kInlineStreams);
  }
  TaskRecord* find(uint64_t number) {
    if (number >= next_) return nullptr;
    if (number >= dense_first_) return tasks_.data() + sparse_ + (number - dense_first_);
    const size_t at = index_of(number);
    return at < tasks_.size() ? &tasks_[at] : nullptr;
  }
  const TaskRecord* find(uint64_t number) const {
    const size_t at = index_of(number);
    return at < tasks_.size() ? &tasks_[at] : nullptr;
  }
  std::span<const uint32_t> clock(const TaskRecord& task) const {
    if (streams_ <= TaskRecord::kInlineStreams) return {task.clock.data(), streams_};
    const auto at = static_cast<size_t>(&task - tasks_.data());
    return {clocks_.data() + at * streams_, streams_};
  }
  std::span<const TaskRecord> all() const { return tasks_; }
  bool wants_compaction() const { return next_ >= compact_at_; }
  /// Keeps only unfinished tasks and those in `held` (sorted numbers).
  void compact(std::span<const uint64_t> held);

 private:
  size_t index_of(uint64_t number) const {
    if (number >= dense_first_) return sparse_ + static_cast<size_t>(number - dense_first_);
    const auto end = tasks_.begin() + static_cast<std::ptrdiff_t>(sparse_);
    const auto at = std::lower_bound(tasks_.begin(), end, number,
                                     [](const TaskRecord& t, uint64_t n) { return t.number < n; });
    return at != end && at->number == number ? static_cast<size_t>(at - tasks_.begin())
                                             : tasks_.size();
  }

  size_t streams_ = 0;
  std::vector<TaskRecord> tasks_;
  std::vector<uint32_t> clocks_;
  size_t sparse_ = 0;
  uint64_t dense_first_ = 0;
  uint64_t next_ = 0;
  uint64_t compact_at_ = kFewest;  // compact when the table reaches this size
};

}  // namespace hostir::interp
