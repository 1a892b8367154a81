#include "interp/session/checks/schedule_search.h"

#include <fmt/core.h>

#include <algorithm>

#include "interp/session/answers/fault_names.h"

namespace hostir::interp {

namespace {

// The first result that differs; empty if all are bitwise equal.
std::string different_output(const RunResult& a, const RunResult& b) {
  const size_t outputs = std::min(a.outputs.size(), b.outputs.size());
  for (size_t i = 0; i < outputs; ++i) {
    if (!(a.outputs[i].global == b.outputs[i].global)) return a.outputs[i].name;
  }
  return {};
}

// Errors of kinds that the first run does not have, such as differing replicas or a hang.
std::vector<Fault> new_faults(const RunResult& first, const RunResult& other) {
  std::vector<Fault> out;
  for (const Fault& fault : other.faults) {
    const bool known = std::any_of(first.faults.begin(), first.faults.end(), [&](const Fault& f) {
      return f.record.kind == fault.record.kind;
    });
    if (fault.severity == Severity::kError && !known) out.push_back(fault);
  }
  return out;
}

class OrderSearch {
 public:
  OrderSearch(const RunResult& first, int64_t most, const ScheduleRuns& runs)
      : first_(first), most_(most), runs_(runs) {}

  Expected<ScheduleSearch> search() {
    for (const Fault& fault : first_.faults) {
      const std::vector<std::string>& at = fault.record.instructions;
      if (!is_race(fault.record.kind) || at.size() < 2) continue;
      out_.open.push_back(fmt::format("{} and {}", at[0], at[1]));
      const bool has_room = static_cast<int64_t>(pairs_.size()) < most_;
      if (runs_.late && at[0] != at[1] && has_room) HOSTIR_TRY(force(fault.record));
    }
    const bool found = std::any_of(out_.forced.begin(), out_.forced.end(),
                                   [](const ForcedOrder& order) { return order.differs(); });
    if (found) return out_;
    if (pairs_.size() > 1) HOSTIR_TRY(combine());
    if (!out_.together.choices.empty()) return out_;
    HOSTIR_TRY(number());
    return out_;
  }

 private:
  struct Pair {
    std::string one, two;
    Rank rank = 0;
  };

  Expected<ForcedOrder> forced(std::vector<OrderChoice> choices) const {
    ForcedOrder out;
    HOSTIR_ASSIGN_OR_RETURN(const RunResult result, runs_.late(choices));
    out.choices = std::move(choices);
    out.output = different_output(first_, result);
    out.faults = new_faults(first_, result);
    return out;
  }

  Expected<void> force(const FaultRecord& race) {
    const std::vector<std::string>& at = race.instructions;
    const Pair pair{at[0], at[1], race.ranks.empty() ? Rank{0} : race.ranks.front()};
    for (const bool two_is_late : {true, false}) {
      // Try one rank first, the smaller change; replicas may need the delay on all ranks.
      HOSTIR_ASSIGN_OR_RETURN(ForcedOrder order, forced({choice(pair, two_is_late, pair.rank)}));
      if (!order.differs() && race.ranks.size() > 1) {
        HOSTIR_ASSIGN_OR_RETURN(order, forced({choice(pair, two_is_late, kNoRank)}));
      }
      out_.forced.push_back(std::move(order));
    }
    pairs_.push_back(pair);
    return {};
  }

  static OrderChoice choice(const Pair& pair, bool two_is_late, Rank rank) {
    return two_is_late ? OrderChoice{pair.two, pair.one, rank}
                       : OrderChoice{pair.one, pair.two, rank};
  }

  // Bit i of a combination says which instruction of pair i is late.
  Expected<void> combine() {
    out_.combinations = int64_t{1} << std::min(pairs_.size(), size_t{62});
    while (out_.combined < std::min(out_.combinations, most_)) {
      std::vector<OrderChoice> choices;
      for (size_t i = 0; i < pairs_.size(); ++i) {
        const bool two_is_late = ((out_.combined >> std::min(i, size_t{62})) & 1) == 0;
        choices.push_back(choice(pairs_[i], two_is_late, kNoRank));
      }
      HOSTIR_ASSIGN_OR_RETURN(ForcedOrder order, forced(std::move(choices)));
      ++out_.combined;
      if (order.differs()) return shrink(std::move(order));
    }
    return {};
  }

  Expected<void> shrink(ForcedOrder order) {
    for (size_t i = order.choices.size(); i-- > 0;) {
      std::vector<OrderChoice> fewer = order.choices;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      HOSTIR_ASSIGN_OR_RETURN(ForcedOrder smaller, forced(std::move(fewer)));
      if (smaller.differs()) order = std::move(smaller);
    }
    out_.together = std::move(order);
    return {};
  }

  Expected<void> number() {
    for (; out_.tried < most_; ++out_.tried) {
      HOSTIR_ASSIGN_OR_RETURN(const RunResult result, runs_.numbered(out_.tried));
      out_.other_output = different_output(first_, result);
      out_.faults = new_faults(first_, result);
      if (out_.other_output.empty() && out_.faults.empty()) continue;
      out_.other_schedule = out_.tried;
      break;
    }
    return {};
  }

  const RunResult& first_;
  int64_t most_;
  const ScheduleRuns& runs_;
  std::vector<Pair> pairs_;  // whose orders were forced
  ScheduleSearch out_;
};

}  // namespace

Expected<ScheduleSearch> search_schedules(const RunResult& first, int64_t most,
                                          const ScheduleRuns& runs) {
  return OrderSearch(first, most, runs).search();
}

}  // namespace hostir::interp
