#include "gui/panels/waits/wait_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>

#include "hostir/support/text.h"

namespace hostir::gui {

namespace {

using interp::Rank;
using interp::RankWait;
using interp::WaitsSnapshot;

std::string label_of(const RankWait& e) {
  return e.comm_text.empty() ? e.on : e.on + " of " + e.comm_text;
}

std::string told(const RankWait& e) {
  return fmt::format("{}\nwaits for {}", e.from_text, e.to_text);
}

// All the data needed about the edges, collected in one pass: there are hundreds of thousands of
// edges when one half of a thousand ranks waits for the other.
struct Waits {
  struct Of {
    bool named = false;  // appears in some edge
    bool culprit = false;
    bool in_cycle = false;
    std::vector<std::pair<Rank, uint32_t>> out;  // target and reason (one number per distinct text)
  };
  std::vector<Of> ranks;  // by rank
  std::set<std::pair<Rank, Rank>> cycle;

  explicit Waits(const WaitsSnapshot& waits) {
    std::unordered_map<std::string_view, uint32_t> texts;
    for (const RankWait& e : waits.edges) {
      const auto on = texts.emplace(e.on, static_cast<uint32_t>(texts.size())).first->second;
      of(e.to).named = true;
      Of& from = of(e.from);
      from.named = true;
      from.out.emplace_back(e.to, on);
    }
    for (const Rank r : waits.culprits) of(r).culprit = true;
    for (size_t i = 0; i < waits.cycle.size(); ++i) {
      of(waits.cycle[i]).in_cycle = true;
      cycle.emplace(waits.cycle[i], waits.cycle[(i + 1) % waits.cycle.size()]);
    }
  }

  Of& of(Rank r) {
    const auto index = static_cast<size_t>(r);
    if (index >= ranks.size()) ranks.resize(index + 1);
    return ranks[index];
  }
};

enum class Alike : uint8_t { kSame, kSameTargets, kSameReason };

// What ranks must have in common to share a node.
struct Key {
  Rank rank = interp::kNoRank;  // only for kSame
  bool culprit = false;
  std::vector<std::pair<Rank, uint32_t>> out;
  friend auto operator<=>(const Key&, const Key&) = default;
};

Key key_of(const Waits& waits, Rank r, Alike alike) {
  Key key;
  if (alike == Alike::kSame) {
    key.rank = r;
    return key;
  }
  const Waits::Of& of = waits.ranks[static_cast<size_t>(r)];
  key.culprit = of.culprit;
  key.out = of.out;
  if (alike == Alike::kSameReason) {
    for (auto& [to, on] : key.out) to = interp::kNoRank;
  }
  std::sort(key.out.begin(), key.out.end());
  key.out.erase(std::unique(key.out.begin(), key.out.end()), key.out.end());
  return key;
}

using Groups = std::vector<std::vector<Rank>>;

// Groups of ranks, ordered by their first rank.
Groups grouped(const Waits& waits, Alike alike) {
  Groups groups;
  std::map<Key, size_t> at;
  for (size_t i = 0; i < waits.ranks.size(); ++i) {
    if (!waits.ranks[i].named) continue;
    const auto rank = static_cast<Rank>(i);
    const auto [group, added] = at.emplace(key_of(waits, rank, alike), groups.size());
    if (added) groups.emplace_back();
    groups[group->second].push_back(rank);
  }
  return groups;
}

std::vector<size_t> group_by_rank(const Waits& waits, const Groups& groups) {
  std::vector<size_t> of(waits.ranks.size(), 0);
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const Rank r : groups[i]) of[static_cast<size_t>(r)] = i;
  }
  return of;
}

// With more links than this the graph is unreadable.
constexpr size_t kMostLinks = 14;

size_t links_between(const Waits& waits, const Groups& groups) {
  const std::vector<size_t> group = group_by_rank(waits, groups);
  std::set<std::pair<size_t, size_t>> links;
  for (size_t from = 0; from < waits.ranks.size(); ++from) {
    for (const auto& [to, on] : waits.ranks[from].out) {
      const size_t other = group[static_cast<size_t>(to)];
      if (group[from] != other) links.emplace(group[from], other);
      if (links.size() > kMostLinks) return links.size();
    }
  }
  return links.size();
}

}  // namespace

WaitGraph make_wait_graph(const WaitsSnapshot& snapshot, size_t max_nodes) {
  const Waits waits(snapshot);
  Groups groups = grouped(waits, Alike::kSame);
  for (const Alike alike : {Alike::kSameTargets, Alike::kSameReason}) {
    if (groups.size() > max_nodes || links_between(waits, groups) > kMostLinks)
      groups = grouped(waits, alike);
  }
  const std::vector<size_t> node_of = group_by_rank(waits, groups);
  WaitGraph graph;
  for (std::vector<Rank>& members : groups) {
    WaitNode& node = graph.nodes.emplace_back();
    for (const Rank r : members) {
      node.culprit |= waits.ranks[static_cast<size_t>(r)].culprit;
      node.in_cycle |= waits.ranks[static_cast<size_t>(r)].in_cycle;
    }
    node.edges = waits.ranks[static_cast<size_t>(members.front())].out.size();
    node.ranks = std::move(members);
  }
  std::map<std::pair<size_t, size_t>, size_t> seen;
  for (const RankWait& e : snapshot.edges) {
    const size_t from = node_of[static_cast<size_t>(e.from)];
    const size_t to = node_of[static_cast<size_t>(e.to)];
    WaitNode& node = graph.nodes[from];
    if (e.from == node.ranks.front() && node.told.size() < kMaxTold) node.told.push_back(told(e));
    if (from == to) {
      if (node.own.empty()) node.own = e.on;
      continue;
    }
    const auto [at, added] = seen.emplace(std::pair(from, to), graph.links.size());
    if (added) graph.links.push_back({from, to, e.on, label_of(e), e.from, e.to, false, told(e)});
    if (waits.cycle.contains({e.from, e.to})) graph.links[at->second].in_cycle = true;
  }
  return graph;
}

std::string ranks_text(const std::vector<Rank>& ranks) {
  const std::string list = ranges_text(ranks, {.prefix = "r", .shortest = 2, .most = 3});
  return ranks.size() > 2 ? fmt::format("{} ranks: {}", ranks.size(), list) : list;
}

}  // namespace hostir::gui
