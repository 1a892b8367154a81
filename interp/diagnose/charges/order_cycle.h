// Finds cycles of ranks that wait for each other because each executes its calls in order.
//
// In such a cycle no rank has skipped a call: each missing call still lies ahead of its rank.
// Either a rank made two calls in a different order from the rest, or all ranks send before they
// receive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

struct OrderCycle {
  std::vector<model::Rank> ranks;  // each waits for the next
  std::vector<model::Rank> odd;    // differ from the majority's order; may be empty
  MemberRef at;                    // the call that comes too early on the rank to repair
  MemberRef before;                // the call that must precede it, as another rank makes it
  std::string sentence;
  std::vector<CallEdit> repair;
  std::string repair_text;
};

/// The shortest cycle; `calls` is calls_by_rank(run).
std::optional<OrderCycle> find_order_cycle(const model::Run& run,
                                           const std::vector<std::vector<MemberRef>>& calls);
void accuse_order_cycle(const model::Run& run, const OrderCycle& circle, RecordedVerdict& verdict);

}  // namespace hostir::diagnose
