#include "interp/core/task_table.h"

namespace hostir::interp {

void TaskTable::compact(std::span<const uint64_t> held) {
  size_t kept = 0;
  auto next_held = held.begin();
  const bool outside = streams_ > TaskRecord::kInlineStreams;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const TaskRecord& task = tasks_[i];
    while (next_held != held.end() && *next_held < task.number) ++next_held;
    const bool is_held = next_held != held.end() && *next_held == task.number;
    if (task.finished() && !is_held) continue;
    if (kept != i) {
      tasks_[kept] = task;
      if (outside) {
        std::copy_n(clocks_.begin() + static_cast<std::ptrdiff_t>(i * streams_), streams_,
                    clocks_.begin() + static_cast<std::ptrdiff_t>(kept * streams_));
      }
    }
    ++kept;
  }
  tasks_.resize(kept);
  if (outside) clocks_.resize(kept * streams_);
  sparse_ = kept;
  dense_first_ = next_;
  compact_at_ = next_ + std::max(kFewest, kept * 2) - kept;
}

}  // namespace hostir::interp
