// Schedules: scale durations by seeded factors, to explore other legal orders.
#pragma once

#include <cstdint>

namespace hostir::sim {

struct Schedule {
  uint64_t seed = 0;
  uint64_t number = 0;  // 0: no scaling
};

/// Identifies what is scaled: a task by (rank, its number on the rank), a meeting by its identity.
/// Nothing depends on the order in which ranks are stepped.
struct ScheduleKey {
  uint64_t space = 0;  // 0 tasks, 1 meetings
  uint64_t a = 0;
  uint64_t b = 0;
};

/// The duration times a log-uniform factor in [1/8, 8], in integer arithmetic; at least 1.
int64_t scaled(const Schedule& schedule, const ScheduleKey& key, int64_t duration_ns);

}  // namespace hostir::sim
