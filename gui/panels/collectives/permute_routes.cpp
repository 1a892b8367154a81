#include "gui/panels/collectives/permute_routes.h"

#include <fmt/core.h>

#include <map>
#include <set>

namespace hostir::gui {

std::vector<std::pair<int64_t, int64_t>> permute_positions(const interp::Code& code,
                                                           interp::CodeIndex index,
                                                           interp::Rank rank, int64_t count) {
  std::vector<std::pair<int64_t, int64_t>> out;
  const interp::CodeInstruction& c = code.instructions[index];
  if (c.role != interp::CodeRole::kInstruction) return out;
  const auto& attributes = code.source(index).attributes;
  if (const auto* pairs = attributes.get<IntLists>("pairs")) {
    for (const auto& pair : *pairs) {
      if (pair.size() == 2) out.emplace_back(pair[0], pair[1]);
    }
  } else if (attributes.has("shift") && c.position_expr != interp::kNoExpr) {
    const interp::IndexCode& by = code.exprs[c.position_expr];
    int64_t shift = 0;
    if (!by.is_static() || !by.evaluate(nullptr, code.rank_tables, rank, shift)) return out;
    for (int64_t p = 0; p < count; ++p)
      out.emplace_back(p, ((p + shift % count) % count + count) % count);
  }
  std::erase_if(out, [&](const auto& pair) {
    return pair.first < 0 || pair.second < 0 || pair.first >= count || pair.second >= count;
  });
  return out;
}

std::vector<RankRoute> permute_routes(const interp::ProgramView& program, interp::CodeIndex index,
                                      std::span<const interp::Rank> members) {
  std::vector<RankRoute> routes;
  if (!program.code || members.empty() || index >= program.code->instructions.size()) return routes;
  for (const auto& [from, to] : permute_positions(*program.code, index, members.front(),
                                                  static_cast<int64_t>(members.size())))
    routes.emplace_back(members[static_cast<size_t>(from)], members[static_cast<size_t>(to)]);
  return routes;
}

std::string routes_text(std::span<const RankRoute> routes) {
  constexpr size_t kMost = 8;
  std::map<interp::Rank, interp::Rank> next(routes.begin(), routes.end());
  std::set<interp::Rank> targets;
  for (const RankRoute& route : routes) targets.insert(route.second);
  std::string text;
  size_t shown = 0;
  // Chains begin where nothing arrives; the remaining ranks form rings.
  for (const bool rings : {false, true}) {
    for (const RankRoute& route : routes) {
      if (shown >= kMost || !next.contains(route.first)) continue;
      if (!rings && targets.contains(route.first)) continue;
      text += fmt::format("{}r{}", text.empty() ? "" : ", ", route.first);
      for (auto at = next.find(route.first); at != next.end() && shown < kMost; ++shown) {
        const interp::Rank to = at->second;
        text += fmt::format("\u2192r{}", to);
        next.erase(at);
        at = next.find(to);
      }
    }
  }
  return next.empty() ? text : text + fmt::format(" \u2026 ({} pairs)", routes.size());
}

}  // namespace hostir::gui
