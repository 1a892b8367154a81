#include "gui/panels/wait_graph.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
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

}  // namespace

WaitGraph make_wait_graph(const WaitsSnapshot& waits, size_t max_nodes) {
  const std::set<Rank> ranks = ranks_of(waits);
  auto groups = grouped(waits, ranks, Alike::kSame);
  for (const Alike alike : {Alike::kSameTargets, Alike::kSameReason}) {
    if (groups.size() > max_nodes) groups = grouped(waits, ranks, alike);
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
    if (added) graph.links.push_back({from, to, e.on, e.from, e.to, false, false});
    if (is_cycle_edge(waits, e)) graph.links[at->second].in_cycle = true;
  }
  for (WaitLink& link : graph.links) link.paired = seen.count({link.to, link.from}) > 0;
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

std::vector<ImVec2> place_cards(size_t count, ImVec2 at, ImVec2 size, ImVec2 card) {
  const ImVec2 centre(at.x + size.x / 2, at.y + size.y / 2);
  const float rx = std::max(0.0f, size.x / 2 - card.x / 2 - 4);
  const float ry = std::max(0.0f, size.y / 2 - card.y / 2 - 4);
  if (count <= 1) return std::vector<ImVec2>(count, centre);
  if (count == 2) {
    const bool beside = 2 * rx - card.x >= card.y * 1.5f;
    const float far = beside ? std::min(rx, card.x * 1.4f) : std::min(ry, card.y * 3);
    if (beside) return {ImVec2(centre.x - far, centre.y), ImVec2(centre.x + far, centre.y)};
    return {ImVec2(centre.x, centre.y - far), ImVec2(centre.x, centre.y + far)};
  }
  std::vector<ImVec2> out;
  for (size_t i = 0; i < count; ++i) {
    const double angle = -1.570796 + 6.283185 * static_cast<double>(i) / static_cast<double>(count);
    out.emplace_back(centre.x + rx * static_cast<float>(std::cos(angle)),
                     centre.y + ry * static_cast<float>(std::sin(angle)));
  }
  return out;
}

LinkCurve link_curve(ImVec2 from, ImVec2 to, ImVec2 card, bool paired) {
  LinkCurve curve;
  const float dx = to.x - from.x;
  const float dy = to.y - from.y;
  const float length = std::sqrt(dx * dx + dy * dy);
  if (length < 1) return curve;
  curve.outwards = ImVec2(dy / length, -dx / length);
  // Above the card's edge where two go both ways beside each other, so that labels find room.
  const float bow = paired ? std::max(card.y * 0.55f, length * 0.08f) : length * 0.05f;
  const ImVec2 control(from.x + dx / 2 + curve.outwards.x * 2 * bow,
                       from.y + dy / 2 + curve.outwards.y * 2 * bow);
  const float gap = 4;
  const auto inside = [&](ImVec2 p, ImVec2 centre) {
    return std::abs(p.x - centre.x) < card.x / 2 + gap &&
           std::abs(p.y - centre.y) < card.y / 2 + gap;
  };
  constexpr int kSteps = 64;
  for (int i = 0; i <= kSteps; ++i) {
    const float t = static_cast<float>(i) / kSteps;
    const float u = 1 - t;
    const ImVec2 p(u * u * from.x + 2 * u * t * control.x + t * t * to.x,
                   u * u * from.y + 2 * u * t * control.y + t * t * to.y);
    if (!inside(p, from) && !inside(p, to)) curve.points.push_back(p);
  }
  if (curve.points.size() < 2) curve.points.clear();
  if (!curve.points.empty()) curve.middle = curve.points[curve.points.size() / 2];
  return curve;
}

}  // namespace hostir::gui
