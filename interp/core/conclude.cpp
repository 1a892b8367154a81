// The end of a run: finished with its last checks, or nothing can move.

#include <fmt/core.h>

#include <algorithm>

#include "interp/core/engine.h"

namespace hostir::interp {

void Engine::conclude() {
  bool finished = true;
  bool frozen = false;
  for (const RankState& rank : state.ranks) {
    const bool over = rank.status == RankStatus::kDone || rank.status == RankStatus::kNotStarted;
    finished = finished && over && rank.outstanding == 0;
    frozen = frozen || (rank.frozen && !over);
  }
  if (finished) {
    state.concluded = true;
    revisit_suspicions(true);
    if (options.checks == InterpreterOptions::Checks::kAll) check_leaks();
    return;
  }
  if (frozen) return;  // thawing may let it go on
  state.concluded = true;
  revisit_suspicions(true);
  if (!report_pending_mismatches()) return;
  report_deadlock();
}

void Engine::check_leaks() {
  // One finding per allocating instruction, with the ranks that leak there.
  struct Leak {
    CodeIndex code = 0;
    uint32_t reg = 0;
    int64_t bytes = 0;
    std::vector<Rank> ranks;
  };
  std::vector<Leak> leaks;
  for (Rank r = 0; r < code->rank_count; ++r) {
    RankState& rank = state.ranks[static_cast<size_t>(r)];
    if (rank.status == RankStatus::kNotStarted) continue;
    for (const Allocation& a : rank.allocations) {
      if (!a.live || a.parameter) continue;
      const auto returned =
          std::any_of(rank.results.begin(), rank.results.end(), [&](const Register& result) {
            return result.slot != kNoSlot && result.value == static_cast<int64_t>(a.id.index);
          });
      if (returned) continue;
      auto at = std::find_if(leaks.begin(), leaks.end(),
                             [&](const Leak& l) { return l.code == a.allocated_by; });
      if (at == leaks.end()) at = leaks.insert(at, {a.allocated_by, a.reg, a.bytes, {}});
      if (at->ranks.empty() || at->ranks.back() != r) at->ranks.push_back(r);
    }
  }
  for (const Leak& leak : leaks) {
    std::string ranks;
    for (const Rank r : leak.ranks) ranks += (ranks.empty() ? "" : ", ") + std::to_string(r);
    Fault fault;
    fault.severity = Severity::kWarning;
    fault.fatal = false;
    fault.record.kind = "leak";
    fault.record.sentence =
        fmt::format("{}{}: {} of {} bytes made by {} is never freed",
                    leak.ranks.size() == 1 ? "rank " : "ranks ", ranks,
                    code->register_name(leak.reg), leak.bytes, name_of(leak.code));
    fault.record.ranks = leak.ranks;
    fault.record.instructions = {code->address(leak.code)};
    fault.record.notes = {fmt::format("allocated by {}", name_of(leak.code))};
    fault.spans = {code->source(leak.code).span};
    record_fault(std::move(fault));
  }
}

}  // namespace hostir::interp
