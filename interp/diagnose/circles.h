// Ranks that wait for each other because each carries its calls out in order.
//
// Where every call was made by everybody, or each rank is still in an earlier one, nobody is absent
// for good: one made two calls in another order than the rest, or all send before they receive.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

struct Circle {
  std::vector<model::Rank> ranks;  // in the order of waiting
  std::vector<model::Rank> odd;    // whose order is not that of the majority; may be empty
  MemberRef at;                    // the call that comes too early on the rank to be repaired
  MemberRef before;                // what must come before it there, as another rank calls it
  std::string sentence;
  std::vector<CallEdit> repair;
  std::string repair_text;
};

/// The shortest circle; `calls` is calls_by_rank(run).
std::optional<Circle> find_circle(const model::Run& run,
                                  const std::vector<std::vector<MemberRef>>& calls);

}  // namespace hostir::diagnose
