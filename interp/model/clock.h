// Times of a run, each with the clock it was read from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "interp/model/ids.h"

namespace hostir::model {

enum class ClockKind : uint8_t {
  kUnknown,
  kVirtual,  // of a simulation: the same on all ranks
  kWall,     // of a machine, since 1970
  kHost,     // of a process: monotonic, with its own origin
  kDevice,   // of a GPU
};

/// Times are comparable only if they are of the same clock, or if `offset_ns` is known for both
/// clocks.
struct Clock {
  ClockKind kind = ClockKind::kUnknown;
  std::string owner;                 // machine, process or device; empty: shared by all ranks
  std::optional<int64_t> offset_ns;  // add to get the run's common time
  friend bool operator==(const Clock&, const Clock&) = default;
};

/// The times of an asynchronous operation. Unset: unknown, or not yet happened (the accompanying
/// state tells which).
struct Times {
  std::optional<int64_t> issued_ns;  // the call on the host
  std::optional<int64_t> ready_ns;   // first in its queue with all its waits done
  std::optional<int64_t> started_ns;
  std::optional<int64_t> finished_ns;
  ClockId issued_clock;     // of `issued_ns`
  ClockId execution_clock;  // of the others
  bool upper_bounds =
      false;  // seen by a watchdog, which polls: the real start and finish were no later
  friend bool operator==(const Times&, const Times&) = default;
};

}  // namespace hostir::model
