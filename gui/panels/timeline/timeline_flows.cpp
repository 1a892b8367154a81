// Flows between ranks: messages, and who held up whom in a collective.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "gui/panels/timeline/timeline_data.h"

namespace hostir::gui {

namespace {

constexpr size_t kMaxFlows = 400;
constexpr size_t kMaxFlowEvents = 800;  // communication events that are examined
constexpr int64_t kFlowColumns = 3;
constexpr int64_t kMaxFlowScan = 50000;  // maximum distance between the first and the last of them

bool is_flow_kind(EventKind kind) {
  return kind == EventKind::kReduce || kind == EventKind::kGather ||
         kind == EventKind::kPointToPoint;
}

using FlowMeeting = std::tuple<interp::CommIndex, uint32_t, uint64_t, interp::Rank, interp::Rank>;

FlowMeeting flow_key_of(const CollectiveId& id) {
  const auto [source, destination] = id.pair.value_or(std::pair(interp::kNoRank, interp::kNoRank));
  return {id.comm, id.group, id.sequence, source, destination};
}

class FlowFinder {
 public:
  FlowFinder(const interp::LogView& log, int64_t column_ns, const interp::ProgramView* program)
      : log_(log), column_ns_(column_ns), program_(program) {
    for (size_t t = 0; t < log.tracks().size(); ++t)
      tracks_[{log.tracks()[t].rank, log.tracks()[t].stream}] = static_cast<interp::TrackId>(t);
  }

  void add(const std::vector<interp::LogCollective>& members) {
    if (members.size() < 2) return;
    if (members.front().peer >= 0) return add_message(members);
    add_waits(members);
    add_routes(members);
  }
  std::vector<TimelineFlow> take() { return std::move(flows_); }

 private:
  std::optional<interp::TrackId> track_of(const interp::LogCollective& member) const {
    if (member.instruction >= log_.instructions().size()) return std::nullopt;
    const auto at = tracks_.find({member.rank, log_.instructions()[member.instruction].stream});
    if (at == tracks_.end()) return std::nullopt;
    return at->second;
  }

  void add_flow(const interp::LogCollective& from, int64_t from_ns, const interp::LogCollective& to,
                int64_t to_ns, bool message) {
    const auto from_track = track_of(from);
    const auto to_track = track_of(to);
    if (!from_track || !to_track || flows_.size() >= kMaxFlows) return;
    flows_.push_back({*from_track, *to_track, from_ns, to_ns, from.event, to.event, message});
  }

  void add_message(const std::vector<interp::LogCollective>& members) {
    const interp::LogCollective* send = nullptr;
    const interp::LogCollective* recv = nullptr;
    for (const interp::LogCollective& m : members) (m.kind == "send" ? send : recv) = &m;
    if (!send || !recv || send->start_ns == interp::kUnknownNs ||
        recv->finish_ns == interp::kUnknownNs)
      return;
    add_flow(*send, send->start_ns, *recv, recv->finish_ns, true);
  }

  void add_waits(const std::vector<interp::LogCollective>& members) {
    const interp::LogCollective* last = nullptr;
    for (const interp::LogCollective& m : members) {
      if (m.arrival_ns != interp::kUnknownNs && (!last || m.arrival_ns > last->arrival_ns))
        last = &m;
    }
    if (!last) return;
    for (const interp::LogCollective& m : members) {
      if (m.arrival_ns == interp::kUnknownNs || m.start_ns == interp::kUnknownNs) continue;
      if (last->arrival_ns - m.arrival_ns > kFlowColumns * column_ns_)
        add_flow(*last, last->arrival_ns, m, m.start_ns, false);
    }
  }

  // The messages of a permute.
  void add_routes(const std::vector<interp::LogCollective>& members) {
    if (program_ == nullptr) return;
    const interp::LogCollective& one = members.front();
    const auto& comms = log_.communicators();
    const auto group = static_cast<size_t>(one.group);
    if (one.comm >= comms.size() || group >= comms[one.comm].groups.size()) return;
    std::map<interp::Rank, const interp::LogCollective*> by_rank;
    for (const interp::LogCollective& m : members) by_rank[m.rank] = &m;
    for (const auto& [from, to] :
         permute_routes(*program_, one.instruction, comms[one.comm].groups[group])) {
      const auto source = by_rank.find(from);
      const auto target = by_rank.find(to);
      if (from == to || source == by_rank.end() || target == by_rank.end() ||
          source->second->start_ns == interp::kUnknownNs ||
          target->second->finish_ns == interp::kUnknownNs)
        continue;
      add_flow(*source->second, source->second->start_ns, *target->second,
               target->second->finish_ns, true);
    }
  }

  const interp::LogView& log_;
  int64_t column_ns_;
  const interp::ProgramView* program_;
  std::map<std::pair<interp::Rank, int32_t>, interp::TrackId> tracks_;
  std::vector<TimelineFlow> flows_;
};

}  // namespace

Expected<void> add_flows(const interp::LogView& log, TimelineLanes& lanes, int64_t column_ns,
                         const interp::ProgramView* program, const std::stop_token& stop) {
  std::set<interp::CodeIndex> instructions;
  std::vector<int64_t> events;
  for (const std::vector<TimelineRun>& runs : lanes.runs) {
    for (const TimelineRun& run : runs) {
      if (run.count != 1 || !is_flow_kind(run.kind) || events.size() >= kMaxFlowEvents) continue;
      events.push_back(run.event);
      instructions.insert(run.instruction);
    }
  }
  if (events.empty()) return {};
  const auto [first, last] = std::minmax_element(events.begin(), events.end());
  interp::EventFilter filter;
  filter.first_id = *first;
  filter.last_id = std::min(*last, *first + kMaxFlowScan);
  filter.limit = kMaxFlowScan;
  filter.instructions.assign(instructions.begin(), instructions.end());
  filter.shown_only = true;
  HOSTIR_ASSIGN_OR_RETURN(const auto members, log.collectives(filter, stop));
  std::map<FlowMeeting, std::vector<interp::LogCollective>> meetings;
  for (const interp::LogCollective& member : members)
    meetings[flow_key_of(id_of(log, member))].push_back(member);
  FlowFinder flows(log, column_ns, program);
  for (const auto& [key, of] : meetings) flows.add(of);
  lanes.flows = flows.take();
  return {};
}

}  // namespace hostir::gui
