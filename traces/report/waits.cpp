// The wait graph. For a run that hangs: who waits for whom, and in which call. Otherwise: how long
// each rank waited for the last to arrive.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "interp/model/verdict.h"
#include "traces/report/html.h"
#include "traces/report/sections.h"

namespace hostir::traces::report {

namespace {

struct Arrow {
  int64_t from = 0;
  int64_t to = 0;
  double weight = 0;  // 0..1
  std::string text;
};

std::vector<Arrow> arrows_of(const model::WaitGraph& graph) {
  std::map<std::pair<int64_t, int64_t>, std::set<std::string>> between;
  for (const model::WaitEdge& edge : graph.edges) {
    const int64_t from = graph.nodes[edge.from].rank;
    const int64_t to = graph.nodes[edge.to].rank;
    if (from != to) between[{from, to}].insert(edge.on);
  }
  std::vector<Arrow> out;
  for (const auto& [ranks, what] : between) {
    std::string text;
    for (const std::string& on : what) {
      if (text.size() < 200) text += (text.empty() ? "" : ", ") + on;
    }
    out.push_back({ranks.first, ranks.second, 1, text});
  }
  return out;
}

/// Sums the waits of collectives for their last member.
Expected<std::vector<Arrow>> measured(const LogReader& log) {
  HOSTIR_ASSIGN_OR_RETURN(
      const interp::LogTable table,
      log.query(
          "WITH m AS (SELECT c.branch, c.communicator, s.group_index AS g, c.sequence, c.rank, "
          "c.arrival_ns AS t, MAX(c.arrival_ns) OVER w AS last_t, FIRST_VALUE(c.rank) OVER "
          "(PARTITION BY c.branch, c.communicator, s.group_index, c.sequence ORDER BY "
          "c.arrival_ns DESC) AS last_rank FROM collective_row c LEFT JOIN collective_site s "
          "ON s.instruction = c.instruction AND s.rank = c.rank WHERE c.peer IS NULL AND "
          "c.arrival_ns IS NOT NULL WINDOW w AS (PARTITION BY c.branch, c.communicator, "
          "s.group_index, c.sequence)) SELECT rank, last_rank, SUM(last_t - t) AS ns FROM m "
          "WHERE rank <> last_rank AND last_t > t GROUP BY rank, last_rank ORDER BY ns DESC",
          10000));
  std::vector<Arrow> out;
  double most = 0;
  for (const auto& row : table.rows) {
    const auto* ns = std::get_if<int64_t>(&row[2]);
    if (ns == nullptr) continue;
    most = std::max(most, static_cast<double>(*ns));
    out.push_back({std::get<int64_t>(row[0]), std::get<int64_t>(row[1]), static_cast<double>(*ns),
                   time_text(*ns)});
  }
  for (Arrow& arrow : out) arrow.weight /= std::max(most, 1.0);
  return out;
}

std::string table_of(const std::vector<Arrow>& arrows, std::string_view what) {
  constexpr size_t kShown = 12;
  std::string out = fmt::format(
      "<div class=\"scroll\"><table><thead><tr><th>rank</th><th>waits for</th><th>{}</th></tr>"
      "</thead><tbody>",
      what);
  for (size_t i = 0; i < std::min(kShown, arrows.size()); ++i) {
    out += fmt::format("<tr><td>{}</td><td>{}</td><td class=\"text\">{}</td></tr>", arrows[i].from,
                       arrows[i].to, escaped(arrows[i].text));
  }
  out += "</tbody></table></div>";
  if (arrows.size() > kShown)
    out += fmt::format("<p class=\"note\">and {} more</p>", arrows.size() - kShown);
  return out;
}

/// Ranks on a circle; empty if there are too many.
std::string picture_of(const std::vector<Arrow>& arrows, int64_t ranks) {
  constexpr int64_t kMost = 16;
  constexpr double kCenter = 170, kRadius = 125, kNode = 20;
  if (ranks > kMost || ranks < 2) return {};
  // The positions of the ranks: two side by side, more in a circle with rank 0 on top.
  const double turn = ranks == 2 ? std::numbers::pi : -std::numbers::pi / 2;
  std::string out = fmt::format(
      "<svg class=\"graph\" viewBox=\"0 {} 340 {}\" role=\"img\" aria-label=\"wait graph\">",
      ranks == 2 ? 135 : 15, ranks == 2 ? 70 : 310);
  out +=
      "<defs>"
      "<marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
      "markerHeight=\"7\" markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 0 8 4 0 "
      "8z\"/>"
      "</marker></defs>";
  const auto place = [&](int64_t rank) {
    const double angle =
        2 * std::numbers::pi * static_cast<double>(rank) / static_cast<double>(ranks) + turn;
    return std::pair(kCenter + kRadius * std::cos(angle), kCenter + kRadius * std::sin(angle));
  };
  for (const Arrow& arrow : arrows) {
    if (arrow.from < 0 || arrow.to < 0 || arrow.from >= ranks || arrow.to >= ranks) continue;
    const auto [x0, y0] = place(arrow.from);
    const auto [x1, y1] = place(arrow.to);
    const double length = std::hypot(x1 - x0, y1 - y0);
    const double ux = (x1 - x0) / length, uy = (y1 - y0) / length;
    // Arrows bend to the right, so that both directions are visible.
    const double bend = 14;
    out += fmt::format(
        "<path class=\"edge\" d=\"M{:.1f} {:.1f} Q{:.1f} {:.1f} {:.1f} {:.1f}\" "
        "style=\"stroke-width:"
        "{:.1f};opacity:{:.2f}\" marker-end=\"url(#tip)\"><title>rank {} waits for rank {}: {}"
        "</title></path>",
        x0 + ux * kNode - uy * 4, y0 + uy * kNode + ux * 4, (x0 + x1) / 2 - uy * bend,
        (y0 + y1) / 2 + ux * bend, x1 - ux * (kNode + 3) - uy * 4, y1 - uy * (kNode + 3) + ux * 4,
        1 + 3 * arrow.weight, 0.35 + 0.65 * arrow.weight, arrow.from, arrow.to,
        escaped(arrow.text));
  }
  for (int64_t rank = 0; rank < ranks; ++rank) {
    const auto [x, y] = place(rank);
    const bool waits =
        std::any_of(arrows.begin(), arrows.end(), [&](const Arrow& a) { return a.from == rank; });
    const bool awaited =
        std::any_of(arrows.begin(), arrows.end(), [&](const Arrow& a) { return a.to == rank; });
    out += fmt::format(
        "<g class=\"node{}\"><circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\"/><text x=\"{:.1f}\" "
        "y=\"{:.1f}\">{}</text></g>",
        awaited && !waits ? " awaited" : "", x, y, kNode, x, y + 5, rank);
  }
  return out + "</svg>";
}

}  // namespace

Expected<std::string> wait_section(const LogReader& log, const model::Run& run) {
  const model::WaitGraph graph = diagnose::wait_graph(run);
  const std::vector<Arrow> stuck = arrows_of(graph);
  const int64_t ranks = log.run().rank_count;
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::FaultRecord> faults, log.faults());
  if (!stuck.empty() && run.motion != model::Motion::kOver) {
    std::string body;
    const bool said = std::any_of(faults.begin(), faults.end(), [&](const interp::FaultRecord& f) {
      return f.sentence.find(graph.sentence) != std::string::npos;
    });
    if (!graph.sentence.empty() && !said) body += "<p>" + escaped(graph.sentence) + "</p>";
    return section("waits", "Who waits for whom",
                   body + "<div class=\"side\">" + picture_of(stuck, ranks) +
                       table_of(stuck, "in") + "</div>");
  }
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<Arrow> arrows, measured(log));
  if (arrows.empty()) return std::string();
  return section(
      "waits", "Who waits for whom",
      "<p>Time spent in collectives until the last member arrived.</p><div class=\"side\">" +
          picture_of(arrows, ranks) + table_of(arrows, "in total") + "</div>");
}

}  // namespace hostir::traces::report
