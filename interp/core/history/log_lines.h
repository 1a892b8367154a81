// The lines written by log points, up to the current position.
//
// Lines follow the position, as breakpoint hits do: going back removes the lines after the new
// position, and going forward along the line restores them. Bounded: the newest `kKept` lines are
// kept; older ones are only counted.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct LogLine {
  uint64_t position = 0;    // history position when it was written
  uint64_t steps = 0;       // the rank's step count
  uint32_t breakpoint = 0;  // the log point's id
  Rank rank = kNoRank;
  CodeIndex code = 0;
  std::string text;
  friend bool operator==(const LogLine&, const LogLine&) = default;
};

class LogLines {
 public:
  static constexpr size_t kKept = 1000;

  /// Starts a command: lines from here on are new.
  void begin();
  void add(LogLine line);
  /// Call when the position has changed. `lines_again`: how many removed lines are written again;
  /// those not kept count as dropped. `place`: where a removed line lies ahead.
  void moved_to(uint64_t position, uint64_t lines_again,
                const std::function<uint64_t(const LogLine&)>& place);
  /// Forgets the removed lines that were passed again.
  void forget_ahead(const std::function<bool(const LogLine&)>& passed);

  /// The new lines that are still kept, oldest first.
  std::vector<LogLine> fresh() const;
  /// The number of new lines that are no longer kept; they precede `fresh()`.
  uint64_t dropped() const { return fresh_hits_ - fresh_lines_; }
  /// The lowest position since `begin`: older lines after it were removed.
  uint64_t lowest() const { return lowest_; }

 private:
  void push(LogLine line);

  std::deque<LogLine> behind_;  // by position
  std::deque<LogLine> ahead_;   // removed by going back, by position
  uint64_t fresh_hits_ = 0;
  uint64_t fresh_lines_ = 0;  // new lines at the end of behind_
  uint64_t lowest_ = UINT64_MAX;
};

}  // namespace hostir::interp
