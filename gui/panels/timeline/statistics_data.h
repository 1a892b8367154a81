// How long each instruction took, read from the log lane by lane.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <stop_token>
#include <vector>

#include "gui/panels/log/log_fetch.h"
#include "interp/session/log/log_view.h"

namespace hostir::gui {

struct StatisticsKey {
  bool hosts = false;                                     // what hosts did, instead of streams
  interp::Rank rank = interp::kNoRank;                    // kNoRank: all
  int64_t from_ns = std::numeric_limits<int64_t>::min();  // events that begin in [from, to)
  int64_t to_ns = std::numeric_limits<int64_t>::max();
  uint64_t generation = ~uint64_t{0};
  friend bool operator==(const StatisticsKey&, const StatisticsKey&) = default;
};

struct StatisticsData {
  StatisticsKey of;
  std::shared_ptr<const std::vector<interp::Durations>> by_instruction;
  int64_t total_ns = 0;
  size_t lanes_read = 0;
  size_t lanes = 0;
};

class StatisticsScan {
 public:
  explicit StatisticsScan(StatisticsKey key) : key_(key) {}
  /// Reads one lane, so that the log can answer other queries in between.
  Expected<LogPiece<StatisticsData>> next(const interp::LogView& log, const std::stop_token& stop);

 private:
  StatisticsKey key_;
  bool begun_ = false;
  std::vector<interp::TrackId> tracks_;
  size_t read_ = 0;
  std::vector<interp::Durations> by_instruction_;
};

}  // namespace hostir::gui
