// Races: two tasks of one rank access the same bytes, at least one writes, and nothing orders them.
//
// 1. Compare an access with the allocation's earlier accesses that no later one covers.
// 2. The clock of its task says which of them happen before: same stream, `wait`, host waits.
// 3. The rest are possible_races: a collective may still order the two through another rank. The
//    ledger says so, now or when the meetings in question are complete.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "interp/core/engine/faults.h"
#include "interp/core/engine/issue_plan.h"

namespace hostir::interp {

class RaceDetector {
 public:
  RaceDetector(RunContext& run, FaultReporter& faults) : run_(run), faults_(faults) {}

  /// Compares the access with the earlier ones and records it. False after a fatal fault.
  bool note_access(Step& step, Allocation& a, uint32_t reg, const AccessRecord& access) {
    WholeAccesses& w = a.whole;
    const bool whole = access.lo == 0 && access.hi == a.bytes && a.accesses.empty();
    if (whole && (w.stream == access.stream || w.empty() || passes_on(step, w, access))) {
      w.stream = access.stream;
      if (access.kind == AccessRecord::Kind::kRead) {
        w.read = access.sequence;
        w.read_code = access.code;
      } else {
        w.write = access.sequence;
        w.write_code = access.code;
        w.write_kind = access.kind;
        w.read = 0;
      }
      return true;
    }
    return note_in_list(step, a, reg, access);
  }
  /// True if the two accesses share a byte.
  bool overlap(const AccessRecord& a, const AccessRecord& b) const;
  /// The outputs of a launch must not share a byte with its other operands.
  bool check_launch_overlap(const Step& step, const IssuePlan& plan);
  /// Members of a group run together: none may write what another one accesses.
  void check_group_overlap(const Step& step, std::span<const ResolvedCall> members);
  /// Decides the possible_races whose meetings are complete; at the last chance, all of them.
  void revisit_suspicions(bool last_chance);
  /// When the run is concluded: adds to each fault the other ranks on which it occurred.
  void name_other_ranks();

 private:
  enum class Order : uint8_t { kOrdered, kUnordered, kUnknown };

  /// True if this is a write ordered after all recorded accesses, so that it can replace them.
  bool passes_on(const Step& step, WholeAccesses& w, const AccessRecord& access) const {
    if (access.kind == AccessRecord::Kind::kRead) return false;
    const uint32_t known = run_.clock_row(step.rank_state, access.stream)[w.stream];
    return w.write <= known && w.read <= known;
  }
  bool note_in_list(Step& step, Allocation& allocation, uint32_t reg, const AccessRecord& access);
  bool suspect(Step& step, uint32_t reg, const AccessRecord& first, const AccessRecord& second);
  Order order_through_others(Rank rank, const std::vector<uint32_t>& clock,
                             const AccessRecord& first) const;
  void report_race(const PossibleRace& suspicion);
  void add_race(const std::string& id, Rank rank, CodeIndex first, CodeIndex second,
                const std::function<std::string()>& sentence);
  std::string touched_text(const PossibleRace& suspicion) const;

  RunContext& run_;
  FaultReporter& faults_;
};

}  // namespace hostir::interp
