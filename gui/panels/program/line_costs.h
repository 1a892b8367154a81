// How often each instruction ran on a rank and how long it took: the cost columns beside the
// program.
//
// Counted from the log up to the rank's own position, so stepping back decreases the counts. Times
// are stream times if the instruction ran on a stream, else host times. No drawing.
#pragma once

#include <cstdint>
#include <vector>

#include "gui/panels/log/log_fetch.h"

namespace hostir::gui {

struct LineCost {
  int64_t hits = 0;
  int64_t busy_ns = 0;
};

class LineCosts {
 public:
  /// Indexed by CodeIndex, for the focus rank. Null until the log has answered; empty if the log is
  /// too large to count.
  const std::vector<LineCost>* get(Frame& frame);

 private:
  struct Key {
    uint64_t generation = ~uint64_t{0};
    interp::Rank rank = interp::kNoRank;
    friend bool operator==(const Key&, const Key&) = default;
  };
  LogFetch<Key, std::vector<LineCost>> fetch_{"host_ir/costs"};
};

}  // namespace hostir::gui
