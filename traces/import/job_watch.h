// Distinguishes a stalled job from a slow one by reading its files repeatedly.
//
// In one look, a rank that others wait for may merely be late. A job has stalled if the verdict
// names a culprit, and neither that rank nor those that wait for it have issued, started or
// completed a call for some time.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "traces/import/open_dumps.h"

namespace hostir::traces::import {

enum class JobState : uint8_t {
  kMoving,
  kStalled,
  kOver,  // every rank has closed its communicators, or its process is gone; no rank is at fault
};

struct JobLook {
  JobState state = JobState::kMoving;
  size_t calls = 0;      // on record, counted per rank
  size_t completed = 0;  // of them
  int64_t quiet_ns = 0;  // since the last sign of life of a rank that the verdict concerns
};

class JobWatch {
 public:
  /// `stall_ns`: a job in which nothing has moved for this long has stalled.
  explicit JobWatch(int64_t stall_ns) : stall_ns_(stall_ns) {}

  /// `now_ns`: wall clock. Looks must be in order of time.
  JobLook look(const OpenedDumps& opened, int64_t now_ns);

 private:
  /// Calls on record, calls completed, the newest time.
  using Progress = std::tuple<size_t, size_t, int64_t>;
  struct Seen {
    Progress progress;
    int64_t changed_ns = 0;
  };
  void note(model::Rank rank, const Progress& progress, int64_t now_ns);

  int64_t stall_ns_;
  std::map<model::Rank, Seen> seen_;
};

}  // namespace hostir::traces::import
