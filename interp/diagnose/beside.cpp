#include "interp/diagnose/beside.h"

#include <algorithm>

namespace hostir::diagnose {

Beside lay(const model::Run& run, model::Rank mine, model::Rank theirs,
           model::CommunicatorId communicator) {
  Beside out;
  uint64_t first = 0;
  for (const model::Rank rank : {mine, theirs}) {
    const model::CallRange* range = run.range(rank, communicator);
    if (range != nullptr && range->first) first = std::max(first, *range->first);
  }
  out.mine = line_of(run, mine, communicator, first);
  out.theirs = line_of(run, theirs, communicator, first);
  out.laid = lay_beside(run, out.mine, out.theirs);
  return out;
}

bool goes_on_alike(const Beside& beside, size_t at) {
  if (at + 1 >= beside.laid.size()) return false;
  const LaidCall::Kind next = beside.laid[at + 1].kind;
  return next == LaidCall::Kind::kSame || next == LaidCall::Kind::kElsewhere;
}

size_t partner(const Beside& beside, size_t at) {
  using Kind = LaidCall::Kind;
  const LaidCall& step = beside.laid[at];
  for (size_t k = 0; k < beside.laid.size(); ++k) {
    const LaidCall& other = beside.laid[k];
    const bool opposite = (step.kind == Kind::kLeftOut && other.kind == Kind::kExtra) ||
                          (step.kind == Kind::kExtra && other.kind == Kind::kLeftOut);
    if (!opposite) continue;
    const model::Member& left = *beside.theirs.calls[std::min(step.theirs, other.theirs)].member;
    const model::Member& extra = *beside.mine.calls[std::min(step.mine, other.mine)].member;
    if (same_call(left.call, extra.call)) return k;
  }
  return SIZE_MAX;
}

size_t next_mine(const Beside& beside, size_t at) {
  while (beside.laid[at].mine == SIZE_MAX) ++at;
  return beside.laid[at].mine;
}

size_t next_theirs(const Beside& beside, size_t at) {
  while (beside.laid[at].theirs == SIZE_MAX) ++at;
  return beside.laid[at].theirs;
}

}  // namespace hostir::diagnose
