#include "gui/panels/timeline/timeline_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "gui/panels/collectives/collective_glyph.h"
#include "hostir/support/text.h"

namespace hostir::gui {

using interp::TimelineSlice;

namespace {

bool joins(const TimelineRun& last, const TimelineRun& next, int64_t column_ns) {
  constexpr int64_t kThinColumns = 4;  // wider slices keep their exact edges
  return last.kind == next.kind && last.share == next.share &&
         next.end_ns - next.begin_ns < kThinColumns * column_ns &&
         next.begin_ns - last.end_ns < column_ns &&
         (last.count > 1 || next.count > 1 ||
          last.end_ns - last.begin_ns < kThinColumns * column_ns);
}

std::vector<TimelineRun> runs_of(const std::vector<TimelineSlice>& slices,
                                 const std::vector<EventKind>& kinds, int64_t column_ns) {
  std::vector<TimelineRun> out;
  for (const TimelineSlice& s : slices) {
    TimelineRun run{s.begin_ns,
                    s.end_ns,
                    s.event,
                    s.instruction,
                    s.count,
                    s.busy_ns,
                    s.instruction < kinds.size() ? kinds[s.instruction] : EventKind::kHost,
                    4};
    if (s.count > 1) {
      const double share = static_cast<double>(s.busy_ns) /
                           std::max(1.0, static_cast<double>(s.end_ns - s.begin_ns));
      run.share = static_cast<uint8_t>(std::clamp(std::lround(share * 4), 1L, 4L));
    }
    if (!out.empty() && joins(out.back(), run, column_ns)) {
      TimelineRun& last = out.back();
      last.end_ns = std::max(last.end_ns, run.end_ns);
      last.count += run.count;
      last.busy_ns += run.busy_ns;
    } else {
      out.push_back(run);
    }
  }
  return out;
}

tl::unexpected<Error> cancelled() {
  return fail(ErrorKind::kRuntime, "log_cancelled", "cancelled");
}

}  // namespace

std::vector<EventKind> event_kinds(const interp::LogView& log) {
  std::vector<EventKind> kinds;
  for (const interp::LogInstruction& i : log.instructions())
    kinds.push_back(event_kind(i.mnemonic, i.stream >= 0));
  return kinds;
}

TimelineNames fetch_names(const interp::LogView& log) {
  TimelineNames names;
  names.tracks = log.tracks();
  names.virtual_time = log.run().virtual_time;
  names.rank_count = static_cast<int32_t>(log.run().rank_count);
  names.kinds = event_kinds(log);
  for (const interp::LogInstruction& i : log.instructions()) {
    names.names.push_back(i.kernel.empty() ? i.mnemonic : i.kernel);
    names.addresses.push_back(i.address);
    names.texts.push_back(i.text.empty() ? i.mnemonic : i.text);
    names.glyphs.emplace_back(collective_glyph(i.mnemonic));
  }
  return names;
}

Expected<TimelineLanes> fetch_lanes(const interp::LogView& log, const TimelineKey& key,
                                    const interp::ProgramView* program,
                                    const std::stop_token& stop) {
  TimelineLanes out;
  out.key = key;
  out.extent = log.extent();
  const std::vector<EventKind> kinds = event_kinds(log);
  interp::TimelineRequest request;
  request.from_ns = static_cast<int64_t>(key.view.from_ns);
  request.to_ns = static_cast<int64_t>(key.view.to_ns) + 1;
  // If merging does not help because every column differs, use fewer columns to keep frames cheap.
  for (request.columns = key.columns; request.columns > 8; request.columns /= 2) {
    size_t count = 0;
    out.runs.clear();
    out.merged.clear();
    const int64_t column_ns =
        std::max<int64_t>(1, (request.to_ns - request.from_ns) / request.columns);
    for (const interp::TrackId track : key.tracks) {
      if (stop.stop_requested()) return cancelled();
      request.track = track;
      out.runs.push_back(runs_of(log.timeline(request), kinds, column_ns));
      count += out.runs.back().size();
    }
    for (const std::vector<interp::TrackId>& group : key.groups) {
      HOSTIR_ASSIGN_OR_RETURN(auto runs, fetch_envelope(log, request, group, kinds, stop));
      count += runs.size();
      out.merged.push_back(std::move(runs));
    }
    // The margins are not drawn, so allow twice the number.
    if (count > 2 * kMaxRuns) continue;
    HOSTIR_TRY(add_stream_waits(log, out, column_ns, stop));
    HOSTIR_TRY(add_flows(log, out, column_ns, program, stop));
    break;
  }
  return out;
}

Expected<TimelineOverview> fetch_overview(const interp::LogView& log, int columns,
                                          const std::stop_token& stop) {
  constexpr size_t kMaxTracks = 200;  // with more tracks, a sample represents all
  TimelineOverview out;
  const interp::LogExtent extent = log.extent();
  out.begin = static_cast<double>(extent.begin_ns);
  out.end = static_cast<double>(extent.end_ns);
  const auto width = static_cast<size_t>(std::max(columns, 1));
  for (auto* row : {&out.compute, &out.communication, &out.host}) row->assign(width, 0);
  const std::vector<EventKind> kinds = event_kinds(log);
  const double span = std::max(1.0, out.end - out.begin);
  const size_t step = std::max<size_t>(1, log.tracks().size() / kMaxTracks);
  interp::TimelineRequest request{0, extent.begin_ns, extent.end_ns + 1, columns};
  for (size_t t = 0; t < log.tracks().size(); t += step) {
    if (stop.stop_requested()) return cancelled();
    const bool host = log.tracks()[t].stream < 0;
    request.track = static_cast<interp::TrackId>(t);
    for (const TimelineSlice& s : log.timeline(request)) {
      const EventKind kind = s.instruction < kinds.size() ? kinds[s.instruction] : EventKind::kHost;
      if (host && kind == EventKind::kWait) continue;
      const bool computes = kind == EventKind::kCompute || kind == EventKind::kMemory;
      std::vector<float>& row = host ? out.host : computes ? out.compute : out.communication;
      const double at = (static_cast<double>(s.begin_ns) - out.begin) / span;
      const double to = (static_cast<double>(s.end_ns) - out.begin) / span;
      const auto first = std::min(width - 1, static_cast<size_t>(at * static_cast<double>(width)));
      const auto last = std::min(width - 1, static_cast<size_t>(to * static_cast<double>(width)));
      const double share = static_cast<double>(s.busy_ns) /
                           std::max(1.0, static_cast<double>(s.end_ns - s.begin_ns));
      for (size_t c = first; c <= last; ++c) row[c] += static_cast<float>(share);
    }
  }
  out.normalise();
  return out;
}

void TimelineOverview::normalise() {
  // Scale the busiest column to full height, so that a mostly idle run is visible too.
  const auto most_of = [](const std::vector<float>& row) {
    return row.empty() ? 0.0f : *std::max_element(row.begin(), row.end());
  };
  const float streams = std::max(most_of(compute), most_of(communication));
  const float hosts = most_of(host);
  for (auto* row : {&compute, &communication, &host}) {
    const float most = row == &host ? hosts : streams;
    for (float& v : *row) v = most > 0 ? v / most : 0;
  }
}

namespace {

// Keeps one member per rank, the one on the event's line of history. If the run stepped back and
// ran again, the log has one for each time.
Expected<void> keep_one_line(const interp::LogView& log, const interp::LogEvent& event,
                             std::vector<interp::LogCollective>& members) {
  std::map<interp::Rank, std::pair<uint32_t, interp::LogCollective>> newest;
  for (interp::LogCollective& member : members) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::LogEvent of, log.event(member.event));
    if (of.branch > event.branch) continue;
    const auto found = newest.find(member.rank);
    if (found == newest.end()) {
      newest.emplace(member.rank, std::pair(of.branch, std::move(member)));
    } else if (of.branch >= found->second.first) {
      found->second = std::pair(of.branch, std::move(member));
    }
  }
  members.clear();
  for (auto& [rank, kept] : newest) members.push_back(std::move(kept.second));
  return {};
}

}  // namespace

CollectiveId id_of(const interp::LogView& log, const interp::LogCollective& member) {
  CollectiveId id{member.comm, static_cast<uint32_t>(member.group), member.sequence, std::nullopt};
  const auto& comms = log.communicators();
  if (member.peer < 0 || id.comm >= comms.size() || id.group >= comms[id.comm].groups.size())
    return id;
  const std::vector<interp::Rank>& group = comms[id.comm].groups[id.group];
  const auto peer = static_cast<size_t>(member.peer);
  if (peer >= group.size()) return id;
  id.pair = member.kind == "send" ? std::pair(member.rank, group[peer])
                                  : std::pair(group[peer], member.rank);
  return id;
}

std::string TimelineEvent::arrived_text() const {
  const auto all = collective && collective->pair ? 2
                   : members.empty()              ? 0
                                                  : members.front().member_count;
  return fmt::format("{} of {}", members.size(), all);
}

Expected<TimelineEvent> fetch_event(const interp::LogView& log, int64_t id,
                                    const interp::ProgramView* program,
                                    const std::stop_token& stop) {
  TimelineEvent out;
  HOSTIR_ASSIGN_OR_RETURN(out.event, log.event(id));
  out.loop = log.loop_path(out.event.loop_path);
  interp::EventFilter filter;
  filter.first_id = id;
  filter.last_id = id;
  HOSTIR_ASSIGN_OR_RETURN(const auto own, log.collectives(filter, stop));
  if (own.empty()) return out;
  out.collective = id_of(log, own[0]);
  filter = {};
  filter.meeting = std::pair(own[0].comm, own[0].sequence);
  filter.limit = 4096;
  HOSTIR_ASSIGN_OR_RETURN(auto members, log.collectives(filter, stop));
  for (interp::LogCollective& member : members) {
    if (id_of(log, member) == *out.collective) out.members.push_back(std::move(member));
  }
  std::stable_sort(out.members.begin(), out.members.end(),
                   [](const auto& a, const auto& b) { return a.rank < b.rank; });
  const bool twice =
      std::adjacent_find(out.members.begin(), out.members.end(), [](const auto& a, const auto& b) {
        return a.rank == b.rank;
      }) != out.members.end();
  if (twice) HOSTIR_TRY(keep_one_line(log, out.event, out.members));
  const CollectiveId& of = *out.collective;
  const auto& comms = log.communicators();
  if (program != nullptr && of.comm < comms.size() && of.group < comms[of.comm].groups.size())
    out.routes = permute_routes(*program, own[0].instruction, comms[of.comm].groups[of.group]);
  return out;
}

std::string describe(const TimelineNames& names, const TimelineRun& run, const TimelineEvent* event,
                     TimelineAxis axis) {
  std::string out = run.instruction < names.names.size() ? names.names[run.instruction] : "?";
  const auto length = static_cast<double>(run.end_ns - run.begin_ns);
  if (run.ranks > 1)
    return fmt::format(
        "{} ranks together, busy {} of {} on average\nmost often with {}\nclick on the name of the "
        "lanes: each rank",
        run.ranks, time_text(static_cast<double>(run.busy_ns)), time_text(length), out);
  if (run.count > 1) {
    out = fmt::format("{} events, busy {} of {}\nthe longest is {}; zoom in to see each", run.count,
                      time_text(static_cast<double>(run.busy_ns)), time_text(length), out);
  } else if (axis == TimelineAxis::kTime) {
    out += "  " + time_text(length);
  } else if (event != nullptr && event->event.end_ns() != interp::kUnknownNs) {
    out += "  " + time_text(static_cast<double>(event->event.end_ns() - event->event.begin_ns()));
  }
  if (run.instruction < names.glyphs.size() && !names.glyphs[run.instruction].empty())
    out = names.glyphs[run.instruction] + " " + out;
  if (event == nullptr) return out;
  const interp::LogEvent& e = event->event;
  if (e.instruction < names.texts.size()) out += "\n" + names.texts[e.instruction];
  out += fmt::format("\nevent {}, decision {}{}", e.id, e.decision,
                     event->loop.empty() ? "" : ", iteration " + event->loop);
  if (e.bytes > 0) out += "\n" + bytes_text(e.bytes);
  for (const interp::LogCollective& c : event->members) {
    if (c.event != e.id) continue;
    if (event->collective && event->collective->pair) {
      const auto& [from, to] = *event->collective->pair;
      out +=
          fmt::format("\nr{}\u2192r{}, message {}, {}", from, to, c.sequence, bytes_text(c.bytes));
    } else {
      out += fmt::format("\n{} of {} ranks, sequence {}, {}", c.kind, c.member_count, c.sequence,
                         bytes_text(c.bytes));
    }
    if (!event->routes.empty()) out += "\n" + routes_text(event->routes);
    if (c.busbw_bytes_per_s > 0)
      out += fmt::format(", algbw {}, busbw {}", rate_text(c.algbw_bytes_per_s),
                         rate_text(c.busbw_bytes_per_s));
    if (c.arrival_ns != interp::kUnknownNs && c.start_ns > c.arrival_ns)
      out += "\nwaited for others " + time_text(static_cast<double>(c.start_ns - c.arrival_ns));
  }
  if (e.waited_ns > 0) out += "\nwaited " + time_text(static_cast<double>(e.waited_ns));
  return out + "\nclick: select   G: go there   R: range";
}

std::string rate_text(double bytes_per_s) {
  return bytes_per_s < 1e9 ? fmt::format("{:.1f} MB/s", bytes_per_s / 1e6)
                           : fmt::format("{:.1f} GB/s", bytes_per_s / 1e9);
}

}  // namespace hostir::gui
