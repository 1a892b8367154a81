// What log points wrote, on the line up to the position.
//
// Belongs to the position, as hits of breakpoints do: going back takes back what lies behind the
// new position, going forward by plain travel brings it again. Bounded: the newest `kKept` lines
// are kept, the others only counted.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct LogLine {
  uint64_t position = 0;    // of the history when it was written
  uint64_t steps = 0;       // of the rank
  uint32_t breakpoint = 0;  // the log point's id
  Rank rank = kNoRank;
  CodeIndex code = 0;
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

class LogLines {
 public:
  static constexpr size_t kKept = 1000;

  /// From here on lines are new: those of one command.
  void begin();
  void add(LogLine line);
  /// Whether the rank's newest line of that log point was written after as many steps.
  bool has(uint32_t breakpoint, Rank rank, uint64_t steps) const;
  /// The position is another now. `hits_again`: how many hits of log points that were taken back
  /// count again; those whose lines are not kept are dropped lines.
  void moved_to(uint64_t position, uint64_t hits_again);
  /// Lines that were taken back and lie at or before `position` were passed anew.
  void forget_ahead(uint64_t position);

  /// The new lines that are kept, oldest first.
  std::vector<LogLine> fresh() const;
  /// How many new lines are not kept; they lie before `fresh()`.
  uint64_t dropped() const { return fresh_hits_ - fresh_lines_; }
  /// The lowest position since `begin`: lines from before that lie behind it were taken back.
  uint64_t lowest() const { return lowest_; }

 private:
  void push(LogLine line);

  std::deque<LogLine> behind_;  // by position
  std::deque<LogLine> ahead_;   // taken back, by position
  uint64_t fresh_hits_ = 0;
  uint64_t fresh_lines_ = 0;  // of them, at the end of behind_
  uint64_t lowest_ = UINT64_MAX;
};

}  // namespace hostir::interp
