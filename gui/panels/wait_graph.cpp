#include "gui/panels/wait_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

namespace hostir::gui {

namespace {

using interp::Rank;
using interp::RankWait;
using interp::WaitsSnapshot;

bool contains(const std::vector<Rank>& ranks, Rank r) {
  return std::find(ranks.begin(), ranks.end(), r) != ranks.end();
}

bool is_cycle_edge(const WaitsSnapshot& waits, const RankWait& e) {
  for (size_t i = 0; i < waits.cycle.size(); ++i) {
    if (waits.cycle[i] == e.from && waits.cycle[(i + 1) % waits.cycle.size()] == e.to) return true;
  }
  return false;
}

std::set<Rank> ranks_of(const WaitsSnapshot& waits) {
  std::set<Rank> ranks;
  for (const RankWait& e : waits.edges) {
    ranks.insert(e.from);
    ranks.insert(e.to);
  }
  return ranks;
}

std::string label_of(const RankWait& e) {
  return e.comm_name.empty() ? e.on : e.on + " of %" + e.comm_name;
}

enum class Alike : uint8_t { kSame, kSameTargets, kSameReason };

// What ranks must have in common to be one node.
std::string key_of(const WaitsSnapshot& waits, Rank r, Alike alike) {
  if (alike == Alike::kSame) return std::to_string(r);
  std::string key = contains(waits.culprits, r) ? "!" : "";
  std::set<std::string> outgoing;
  for (const RankWait& e : waits.edges) {
    if (e.from != r) continue;
    outgoing.insert(alike == Alike::kSameTargets ? fmt::format("{} {}", e.to, e.on) : e.on);
  }
  for (const std::string& o : outgoing) key += "|" + o;
  return key;
}

std::map<std::string, std::vector<Rank>> grouped(const WaitsSnapshot& waits,
                                                 const std::set<Rank>& ranks, Alike alike) {
  std::map<std::string, std::vector<Rank>> groups;
  for (const Rank r : ranks) groups[key_of(waits, r, alike)].push_back(r);
  return groups;
}

// More than these are a thicket.
constexpr size_t kMostLinks = 14;

size_t links_between(const WaitsSnapshot& waits,
                     const std::map<std::string, std::vector<Rank>>& groups) {
  std::map<Rank, const std::string*> group_of;
  for (const auto& [key, members] : groups) {
    for (const Rank r : members) group_of[r] = &key;
  }
  std::set<std::pair<const std::string*, const std::string*>> links;
  for (const RankWait& e : waits.edges) {
    if (group_of[e.from] != group_of[e.to]) links.emplace(group_of[e.from], group_of[e.to]);
    if (links.size() > kMostLinks) break;
  }
  return links.size();
}

}  // namespace

WaitGraph make_wait_graph(const WaitsSnapshot& waits, size_t max_nodes) {
  const std::set<Rank> ranks = ranks_of(waits);
  auto groups = grouped(waits, ranks, Alike::kSame);
  for (const Alike alike : {Alike::kSameTargets, Alike::kSameReason}) {
    if (groups.size() > max_nodes || links_between(waits, groups) > kMostLinks)
      groups = grouped(waits, ranks, alike);
  }
  WaitGraph graph;
  for (auto& [key, members] : groups) graph.nodes.push_back({std::move(members), false, false, ""});
  std::sort(graph.nodes.begin(), graph.nodes.end(),
            [](const WaitNode& a, const WaitNode& b) { return a.ranks.front() < b.ranks.front(); });
  std::map<Rank, size_t> node_of;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const Rank r : graph.nodes[i].ranks) {
      node_of[r] = i;
      if (contains(waits.culprits, r)) graph.nodes[i].culprit = true;
      if (contains(waits.cycle, r)) graph.nodes[i].in_cycle = true;
    }
  }
  std::map<std::pair<size_t, size_t>, size_t> seen;
  for (const RankWait& e : waits.edges) {
    const size_t from = node_of[e.from];
    const size_t to = node_of[e.to];
    if (from == to) {
      if (graph.nodes[from].own.empty()) graph.nodes[from].own = e.on;
      continue;
    }
    const auto [at, added] = seen.emplace(std::pair(from, to), graph.links.size());
    if (added) graph.links.push_back({from, to, e.on, label_of(e), e.from, e.to, false});
    if (is_cycle_edge(waits, e)) graph.links[at->second].in_cycle = true;
  }
  return graph;
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  std::string text;
  size_t pieces = 0;
  for (size_t i = 0; i < ranks.size() && pieces < 3; ++pieces) {
    size_t j = i;
    while (j + 1 < ranks.size() && ranks[j + 1] == ranks[j] + 1) ++j;
    if (!text.empty()) text += ", ";
    text += i == j ? fmt::format("r{}", ranks[i]) : fmt::format("r{}..r{}", ranks[i], ranks[j]);
    i = j + 1;
    if (pieces == 2 && i < ranks.size()) text += " \u2026";
  }
  return ranks.size() > 2 ? fmt::format("{} ranks: {}", ranks.size(), text) : text;
}

}  // namespace hostir::gui
