// The end of a run: either finished, with the end-of-run checks, or nothing can move.

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "interp/core/claims/partial_claims.h"
#include "interp/core/engine/engine.h"
#include "interp/model/run.h"

namespace hostir::interp {

// Finds sends whose bytes no recv took out of the connection's buffer. Without buffers, such a run
// does not finish.
void Engine::check_sends() {
  for (const Pair& pair : run.state.ledger.pairs) {
    if (!pair.send.arrived || pair.recv.arrived) continue;
    // It is not known here what other processes received.
    const auto target = static_cast<size_t>(pair.target);
    if (run.state.ranks[target].status == RankStatus::kRemote) continue;
    const PairCounter& count = run.state.ledger.counter(pair.comm, pair.source, pair.target);
    if (pair.ordinal != count.received) continue;  // one finding per connection: the first
    Fault fault;
    fault.fatal = false;
    fault.record.kind = "unreceived_send";
    fault.record.sentence = fmt::format(
        "rank {} sends to rank {} at {}, but {} of {} sends are never received; they completed "
        "only because they fit into the p2p buffer",
        pair.source, pair.target, faults.name_of(pair.send.code), count.sent - count.received,
        count.sent);
    fault.record.ranks = {pair.source, pair.target};
    fault.record.instructions = {run.code->address(pair.send.code)};
    fault.record.notes = {fmt::format("{} sends", faults.name_of(pair.send.code))};
    fault.spans = {run.code->source(pair.send.code).span};
    faults.add(std::move(fault));
  }
}

void Engine::conclude() {
  bool finished = true;
  bool frozen = false;
  for (const RankState& rank : run.state.ranks) {
    const bool over = is_over(rank.status);
    finished = finished && over && rank.outstanding == 0;
    frozen = frozen || (rank.frozen && !over);
  }
  if (finished) {
    run.state.concluded = true;
    if (run.is_logging()) log_rank_states(run);
    races.revisit_suspicions(true);
    races.name_other_ranks();
    if (!run.checks_all()) return;
    check_sends();
    check_leaks();
    for (const MisplacedReduction& found : misplaced_reductions(*run.code)) {
      Fault fault;
      fault.fatal = false;
      fault.record.kind = "partial_claim";
      fault.record.sentence = found.sentence;
      fault.record.instructions = {run.code->address(found.code)};
      fault.record.notes = {fmt::format("{} is the reduction", faults.name_of(found.code))};
      fault.spans = {run.code->source(found.code).operands[found.operand].span};
      faults.add(std::move(fault));
    }
    return;
  }
  if (frozen) return;  // thawing them may let the run continue
  run.state.concluded = true;
  races.revisit_suspicions(true);
  races.name_other_ranks();
  meetings.report_verdict();
}

// Fetches the positions of remote ranks, so that the verdict covers all processes.
void Engine::ask_peers() {
  constexpr int64_t kPatienceNs = 3'000'000'000;
  Peers* peers = run.backend.peers();
  if (peers == nullptr) return;
  const auto answers = peers->exchange("verdict", report_of(run), kPatienceNs);
  for (size_t p = 0; p < answers.size(); ++p) {
    if (static_cast<int>(p) == peers->process()) continue;
    if (answers[p].text && enter_report(run, *answers[p].text)) continue;
    std::vector<Rank> ranks = peers->ranks_of(static_cast<int>(p));
    meetings.add_absent(fmt::format("process {} with {} {}", p, model::list_of(ranks),
                                    answers[p].text ? "runs another version" : answers[p].why_not));
  }
}

// Work is in flight, but nothing has completed within the allowed time.
void Engine::give_up_waiting() {
  run.state.concluded = true;
  run.state.gave_up = true;
  ask_peers();
  races.revisit_suspicions(true);
  meetings.report_verdict();
}

void Engine::check_leaks() {
  // One finding per allocating instruction, listing the ranks that leak there.
  struct Leak {
    CodeIndex code = 0;
    uint32_t reg = 0;
    int64_t bytes = 0;
    std::vector<Rank> ranks;
    std::map<Rank, int64_t> times;  // by rank: how often, if it is in a loop
  };
  std::vector<Leak> leaks;
  for (Rank r = 0; r < run.rank_count(); ++r) {
    RankState& rank = run.state.ranks[static_cast<size_t>(r)];
    if (rank.status == RankStatus::kNotStarted || rank.status == RankStatus::kRemote) continue;
    for (const Allocation& a : rank.allocations) {
      if (!a.live || a.parameter) continue;
      const auto returned =
          std::any_of(rank.results.begin(), rank.results.end(), [&](const Register& result) {
            return result.slot != kNoSlot && result.value == static_cast<int64_t>(a.id.index);
          });
      if (returned) continue;
      auto at = std::find_if(leaks.begin(), leaks.end(),
                             [&](const Leak& l) { return l.code == a.allocated_by; });
      if (at == leaks.end()) at = leaks.insert(at, {a.allocated_by, a.reg, a.bytes, {}, {}});
      ++at->times[r];
      if (at->ranks.empty() || at->ranks.back() != r) at->ranks.push_back(r);
    }
  }
  for (const Leak& leak : leaks) {
    std::string ranks;
    for (const Rank r : leak.ranks) ranks += (ranks.empty() ? "" : ", ") + std::to_string(r);
    int64_t most = 0;
    for (const auto& [rank, times] : leak.times) most = std::max(most, times);
    Fault fault;
    fault.fatal = false;
    fault.record.kind = "leak";
    fault.record.sentence =
        fmt::format("{}{}: {} of {} bytes made by {} is never freed{}",
                    leak.ranks.size() == 1 ? "rank " : "ranks ", ranks,
                    run.code->register_name(leak.reg), leak.bytes, faults.name_of(leak.code),
                    most == 1 ? "" : fmt::format(", {} times per rank", most));
    fault.record.ranks = leak.ranks;
    fault.record.instructions = {run.code->address(leak.code)};
    fault.record.notes = {fmt::format("allocated by {}", faults.name_of(leak.code))};
    fault.spans = {run.code->source(leak.code).span};
    faults.add(std::move(fault));
  }
}

}  // namespace hostir::interp
