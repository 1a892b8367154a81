#include "interp/core/task_table.h"

namespace hostir::interp {

void TaskTable::compact(std::span<const uint64_t> held) {
  size_t kept = 0;
  for (size_t i = 0; i < tasks_.size(); ++i) {
    const TaskRecord& task = tasks_[i];
    if (task.finished() && !std::binary_search(held.begin(), held.end(), task.number)) continue;
    if (kept != i) {
      tasks_[kept] = task;
      std::copy_n(clocks_.begin() + static_cast<std::ptrdiff_t>(i * streams_), streams_,
                  clocks_.begin() + static_cast<std::ptrdiff_t>(kept * streams_));
    }
    ++kept;
  }
  tasks_.resize(kept);
  clocks_.resize(kept * streams_);
  sparse_ = kept;
  dense_first_ = next_;
  limit_ = std::max<size_t>(256, kept * 2);
}

}  // namespace hostir::interp
