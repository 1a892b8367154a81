// Merges the lanes of several ranks: per column, how many were busy and with what most.
#include <algorithm>
#include <array>
#include <cmath>

#include "gui/panels/timeline/timeline_data.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxMembers = 64;  // with more ranks, a sample represents all

struct EnvelopeColumn {
  std::array<float, 7> busy{};  // ranks busy, by kind
  float most = 0;               // largest contribution of one slice
  interp::CodeIndex instruction = 0;
  uint32_t begins = 0;  // number of events that begin in the column
};

}  // namespace

Expected<std::vector<TimelineRun>> fetch_envelope(const interp::LogView& log,
                                                  interp::TimelineRequest request,
                                                  const std::vector<interp::TrackId>& tracks,
                                                  const std::vector<EventKind>& kinds,
                                                  const std::stop_token& stop) {
  const auto count = static_cast<size_t>(std::max(request.columns, 1));
  std::vector<EnvelopeColumn> columns(count);
  const double width = std::max(1.0, static_cast<double>(request.to_ns - request.from_ns)) /
                       static_cast<double>(count);
  const size_t step = std::max<size_t>(1, (tracks.size() + kMaxMembers - 1) / kMaxMembers);
  float members = 0;
  for (size_t t = 0; t < tracks.size(); t += step, ++members) {
    if (stop.stop_requested()) return fail(ErrorKind::kRuntime, "log_cancelled", "cancelled");
    request.track = tracks[t];
    for (const interp::TimelineSlice& s : log.timeline(request)) {
      const auto kind = s.instruction < kinds.size() ? kinds[s.instruction] : EventKind::kHost;
      const double from = std::max(0.0, static_cast<double>(s.begin_ns - request.from_ns) / width);
      const double to = std::min(static_cast<double>(count),
                                 static_cast<double>(s.end_ns - request.from_ns) / width);
      const double share = static_cast<double>(s.busy_ns) /
                           std::max(1.0, static_cast<double>(s.end_ns - s.begin_ns));
      const auto first = std::min(count - 1, static_cast<size_t>(from));
      columns[first].begins += s.count;
      for (size_t c = first; c < count && static_cast<double>(c) < to; ++c) {
        const double covered =
            std::min(to, static_cast<double>(c + 1)) - std::max(from, static_cast<double>(c));
        const auto busy = static_cast<float>(covered * share);
        EnvelopeColumn& column = columns[c];
        column.busy[static_cast<size_t>(kind)] += busy;
        if (busy <= column.most) continue;
        column.most = busy;
        column.instruction = s.instruction;
      }
    }
  }
  std::vector<TimelineRun> out;
  for (size_t c = 0; c < count; ++c) {
    const EnvelopeColumn& column = columns[c];
    float total = 0;
    for (const float busy : column.busy) total += busy;
    if (total <= 0) continue;
    const auto most = std::max_element(column.busy.begin(), column.busy.end());
    TimelineRun run;
    run.begin_ns = request.from_ns + static_cast<int64_t>(static_cast<double>(c) * width);
    run.end_ns = request.from_ns + static_cast<int64_t>(static_cast<double>(c + 1) * width);
    run.instruction = column.instruction;
    run.count = std::max(2u, column.begins);
    run.busy_ns = static_cast<int64_t>(static_cast<double>(total / members) * width);
    run.kind = static_cast<EventKind>(most - column.busy.begin());
    run.share = static_cast<uint8_t>(std::clamp(std::lround(total / members * 4), 1L, 4L));
    run.ranks = static_cast<uint32_t>(tracks.size());
    const bool joins = !out.empty() && out.back().kind == run.kind &&
                       out.back().share == run.share && run.begin_ns - out.back().end_ns <= 1;
    if (!joins) {
      out.push_back(run);
      continue;
    }
    out.back().mixed = out.back().mixed || out.back().instruction != run.instruction;
    out.back().end_ns = run.end_ns;
    out.back().busy_ns += run.busy_ns;
    out.back().count += column.begins;
  }
  return out;
}

}  // namespace hostir::gui
