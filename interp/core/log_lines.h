// What log points wrote, on the line up to the position.
//
// Belongs to the position, as hits of breakpoints do: going back takes back what lies behind the
// new position, going forward by plain travel brings it again. Bounded: the newest `kKept` lines
// are kept, the others only counted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
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
  /// The position is another now. `lines_again`: how many lines that were taken back are written
  /// again; those that are not kept are dropped lines. `place`: where one taken back lies ahead.
  void moved_to(uint64_t position, uint64_t lines_again,
                const std::function<uint64_t(const LogLine&)>& place);
  /// Forgets of the lines that were taken back those that were passed anew.
  void forget_ahead(const std::function<bool(const LogLine&)>& passed);

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
