#include "gui/panels/program/line_costs.h"

#include <limits>

namespace hostir::gui {

namespace {

constexpr int64_t kMaxEvents = 20'000'000;  // counting more would take too long

// Host events of the rank before `clock` count as passes; stream events of those passes add their
// time.
std::vector<LineCost> count(const interp::LogView& log, interp::Rank rank, int64_t clock_ns) {
  std::vector<LineCost> costs(log.instructions().size());
  std::vector<int64_t> on_host(costs.size(), 0);
  if (log.extent().event_count > kMaxEvents) return {};
  constexpr int64_t kBegin = std::numeric_limits<int64_t>::min() + 1;
  for (const interp::TimelineSum& sum : log.sums(kBegin, clock_ns)) {
    const interp::LogTrack& track = log.tracks()[sum.track];
    if (track.rank != rank || track.stream >= 0 || sum.instruction >= costs.size()) continue;
    costs[sum.instruction].hits += sum.count;
    on_host[sum.instruction] += sum.busy_ns;
  }
  for (const interp::TimelineSum& sum : log.sums(kBegin, std::numeric_limits<int64_t>::max())) {
    const interp::LogTrack& track = log.tracks()[sum.track];
    if (track.rank != rank || track.stream < 0 || sum.instruction >= costs.size()) continue;
    if (costs[sum.instruction].hits > 0) costs[sum.instruction].busy_ns += sum.busy_ns;
  }
  for (size_t i = 0; i < costs.size(); ++i) {
    if (costs[i].busy_ns == 0) costs[i].busy_ns = on_host[i];
  }
  return costs;
}

}  // namespace

const std::vector<LineCost>* LineCosts::get(Frame& frame) {
  const interp::Snapshot& shot = *frame.model.snapshot();
  const Key key{frame.model.generation(), shot.focus};
  return fetch_.get(frame.model, key,
                    [rank = shot.focus, clock = shot.rank(shot.focus).host_clock_ns](
                        const interp::LogView& log, std::stop_token) {
                      return Expected<std::vector<LineCost>>(count(log, rank, clock));
                    });
}

}  // namespace hostir::gui
