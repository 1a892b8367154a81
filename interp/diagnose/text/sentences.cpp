#include "interp/diagnose/text/sentences.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "hostir/support/lists.h"
#include "interp/diagnose/charges/waited.h"
#include "interp/diagnose/text/recorded_text.h"

namespace hostir::diagnose {

namespace {

using model::Rank;
using model::Run;
using model::WaitEdge;
using model::WaitGraph;

// The ranks blocked in one meeting, the culprits that have not arrived, and the ranks that may not
// have arrived.
struct Cause {
  const WaitEdge* first = nullptr;  // identifies the meeting
  std::vector<Rank> blocked;
  std::vector<Rank> missing;
  std::vector<Rank> unknown;
  std::vector<model::CommunicatorId> groups;  // of one declaration
  std::set<model::CommunicatorId> known_groups;
};

void sort_once(std::vector<Rank>& ranks) {
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
}

// Which blocked ranks wait for which: `; groups [0, 4], [1, 5]`. Empty if there is only one group.
std::string groups_text(const Run& run, const Cause& cause) {
  constexpr size_t kMostGroups = 8;
  if (cause.groups.size() < 2) return {};
  std::string text = "; groups";
  for (size_t i = 0; i < cause.groups.size(); ++i) {
    const model::Communicator* group = run.find(cause.groups[i]);
    if (group == nullptr || !group->members) return {};
    if (i == kMostGroups) return text + fmt::format(" and {} more", cause.groups.size() - i);
    text += fmt::format("{} [{}]", i == 0 ? "" : ",", fmt::join(*group->members, ", "));
  }
  return text;
}

std::string clause(const Run& run, const Cause& cause, const std::vector<Cause>& all,
                   const WaitGraph& graph) {
  const MemberRef call = call_of(run, graph.nodes[cause.first->from].rank, *cause.first);
  if (call.member == nullptr) return {};
  const std::string groups = groups_text(run, cause);
  std::string text;
  if (cause.missing.empty()) {
    text = fmt::format("{} {} in {}{}{}", model::list_of(cause.blocked),
                       verb(cause.blocked, "waits", "wait"), call_name(run, call),
                       at_stack(run, call), groups);
  } else {
    text = absence_text(run, call, cause.missing, cause.blocked) + groups;
    // A host may have returned while one of its streams is stuck: another clause says where.
    const bool is_blocked = std::ranges::any_of(
        all, [&](const Cause& other) { return contains(other.blocked, cause.missing.front()); });
    text += is_blocked ? std::string() : state_text(run, cause.missing);
  }
  if (!cause.unknown.empty())
    text += fmt::format("; it is not known whether {} came to it", model::list_of(cause.unknown));
  return text;
}

}  // namespace

std::string instruction_name(const Run& run, model::InstructionId id) {
  const model::Instruction* instruction = run.find(id);
  return instruction ? model::name_of(*instruction) : run.entry;
}

std::string at_place(const Run& run, model::InstructionId id) {
  const model::Instruction* instruction = run.find(id);
  const std::string place = instruction ? model::place_text(*instruction) : std::string();
  return place.empty() ? place : " at " + place;
}

std::string communicator_name(const Run& run, model::CommunicatorId id) {
  const model::Communicator* communicator = run.find(id);
  if (communicator == nullptr) return "a communicator that is not known";
  if (!communicator->description.empty()) {
    // Two communicators with the same declaration are distinguished by their names.
    const bool alike = std::any_of(
        run.communicators.begin(), run.communicators.end(), [&](const model::Communicator& other) {
          return other.description == communicator->description && other.name != communicator->name;
        });
    return alike && !communicator->name.empty()
               ? fmt::format("%{} = {}", communicator->name, communicator->description)
               : communicator->description;
  }
  if (!communicator->name.empty()) return communicator->name;
  return fmt::format("communicator {}", id.index);
}

std::string queue_name(const Run& run, const model::WaitNode& node) {
  const model::Stream* stream = run.find(node.stream);
  if (stream != nullptr) return "stream " + stream->name;
  return "on " + communicator_name(run, node.communicator);
}

std::string kind_name(const model::Call& call) {
  return call.name == "barrier" ? call.name : model::kind_text(call);
}

std::string name_of(const MemberRef& ref) {
  if (ref.meeting != nullptr) {
    return fmt::format("{} seq {}", kind_name(ref.member->call), ref.meeting->sequence);
  }
  return ref.sends()
             ? fmt::format("send to rank {} number {}", ref.pair->target, ref.pair->ordinal)
             : fmt::format("recv from rank {} number {}", ref.pair->source, ref.pair->ordinal);
}

std::vector<std::vector<uint32_t>> edges_by_node(const WaitGraph& graph) {
  std::vector<std::vector<uint32_t>> out(graph.nodes.size());
  for (uint32_t e = 0; e < graph.edges.size(); ++e) out[graph.edges[e].from].push_back(e);
  return out;
}

std::string blame_sentence(const Run& run, const WaitGraph& graph) {
  constexpr size_t kMostClauses = 4;
  std::vector<bool> culprit(graph.nodes.size(), false);
  for (const uint32_t n : graph.culprits) culprit[n] = true;
  std::vector<Cause> causes;
  // Groups of one declaration share a clause.
  std::map<std::tuple<std::string, std::string, uint64_t, std::string_view>, size_t> cause_of;
  const auto counts = [&](const WaitEdge& e) { return !e.known || culprit[e.to]; };
  const std::vector<bool> call_counts = calls_with(graph, counts);
  for (const WaitEdge& e : graph.edges) {
    if (!e.communicator.valid() || !(counts(e) || call_counts[e.to])) continue;
    const model::Communicator& c = run.communicators[e.communicator.index];
    const auto [at, added] = cause_of.emplace(
        std::tuple(c.name, c.description, e.sequence, std::string_view(e.on)), causes.size());
    if (added) causes.push_back({&e, {}, {}, {}, {}, {}});
    Cause& cause = causes[at->second];
    if (cause.known_groups.insert(e.communicator).second) cause.groups.push_back(e.communicator);
    // The edges of the node of a call follow the first one to it.
    if (!is_call(graph.nodes[e.from])) cause.blocked.push_back(graph.nodes[e.from].rank);
    if (!is_call(graph.nodes[e.to]))
      (e.known ? cause.missing : cause.unknown).push_back(graph.nodes[e.to].rank);
  }
  // Known absences come before possible ones.
  std::stable_partition(causes.begin(), causes.end(),
                        [](const Cause& c) { return !c.missing.empty(); });
  std::string text;
  for (size_t i = 0; i < causes.size(); ++i) {
    if (i == kMostClauses)
      return text + fmt::format("; and {} more like these", causes.size() - kMostClauses);
    sort_once(causes[i].blocked);
    sort_once(causes[i].missing);
    sort_once(causes[i].unknown);
    text += (i > 0 ? "; also, " : "") + clause(run, causes[i], causes, graph);
  }
  return text;
}

std::string cycle_sentence(const Run& run, const WaitGraph& graph) {
  const auto out = edges_by_node(graph);
  std::vector<CircleStep> steps;
  for (size_t i = 0; i < graph.cycle.size(); ++i) {
    const uint32_t to = graph.cycle[(i + 1) % graph.cycle.size()];
    for (const uint32_t e : out[graph.cycle[i]]) {
      const WaitEdge& edge = graph.edges[e];
      const bool leads = edge.to == to || (is_call(graph.nodes[edge.to]) &&
                                           std::ranges::any_of(out[edge.to], [&](uint32_t next) {
                                             return graph.edges[next].to == to;
                                           }));
      if (!leads || !edge.communicator.valid()) continue;
      const Rank from = graph.nodes[edge.from].rank;
      const MemberRef call = call_of(run, from, edge);
      if (call.member == nullptr) continue;
      steps.push_back({from, graph.nodes[to].rank, call});
      break;
    }
  }
  return steps.empty() ? std::string() : circle_text(run, steps);
}

}  // namespace hostir::diagnose
