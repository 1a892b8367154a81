// Times of a run, with the clock that each was read from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "interp/model/ids.h"

namespace hostir::model {

enum class ClockKind : uint8_t {
  kUnknown,
  kVirtual,  // of a simulation: equal on all ranks
  kWall,     // of a computer, since 1970
  kHost,     // of a process: monotonic, with an origin of its own
  kDevice,   // of a GPU
};

/// Times of two clocks may be compared only if both are the same clock, or if `offset_ns` of both
/// is known.
struct Clock {
  ClockKind kind = ClockKind::kUnknown;
  std::string owner;                 // computer, process or device; empty: all ranks share it
  std::optional<int64_t> offset_ns;  // to add, to get the run's common time
  friend bool operator==(const Clock&, const Clock&) = default;
};

/// The instants of something asynchronous. Unset: not known, or it has not happened (the
/// state beside it says which).
struct Times {
  std::optional<int64_t> issued_ns;  // the call on the host
  std::optional<int64_t> ready_ns;   // first in its queue, with all its waits done
  std::optional<int64_t> started_ns;
  std::optional<int64_t> finished_ns;
  ClockId issued_clock;       // of `issued_ns`
  ClockId execution_clock;    // of the others
  bool upper_bounds = false;  // a watchdog noticed start and finish: they were not later than this
  friend bool operator==(const Times&, const Times&) = default;
};

}  // namespace hostir::model
