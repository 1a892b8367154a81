#include "gui/panels/timeline/statistics_data.h"

#include <algorithm>

namespace hostir::gui {

Expected<LogPiece<StatisticsData>> StatisticsScan::next(const interp::LogView& log,
                                                        const std::stop_token& stop) {
  if (!std::exchange(begun_, true)) {
    for (size_t t = 0; t < log.tracks().size(); ++t) {
      const interp::LogTrack& track = log.tracks()[t];
      const bool wanted = key_.rank == interp::kNoRank || track.rank == key_.rank;
      if (wanted && (track.stream < 0) == key_.hosts)
        tracks_.push_back(static_cast<interp::TrackId>(t));
    }
  }
  if (read_ < tracks_.size()) {
    HOSTIR_TRY(log.durations(tracks_[read_], key_.from_ns, key_.to_ns, by_instruction_, stop));
    ++read_;
  }
  StatisticsData data;
  data.of = key_;
  data.lanes_read = read_;
  data.lanes = tracks_.size();
  data.by_instruction = std::make_shared<const std::vector<interp::Durations>>(by_instruction_);
  for (const interp::Durations& d : by_instruction_) data.total_ns += d.total_ns();
  return LogPiece<StatisticsData>{std::move(data), read_ < tracks_.size()};
}

}  // namespace hostir::gui
