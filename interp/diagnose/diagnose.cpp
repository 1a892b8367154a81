// 1. Members that disagree, if their own calls prove it.
// 2. If the run is stuck, the deadlock.
// 3. Otherwise which ranks wait, without blame.

#include <fmt/core.h>

#include <algorithm>

#include "interp/diagnose/engine/gaps.h"
#include "interp/diagnose/text/sentences.h"
#include "interp/diagnose/verdicts.h"

namespace hostir::diagnose {

model::Verdict diagnose(const model::Run& run) {
  const bool stuck = run.motion == model::Motion::kStuck;
  model::Verdict verdict;
  if (auto found = mismatch_verdict(run, stuck ? Pending::kTell : Pending::kLeaveOut)) {
    verdict = std::move(*found);
  } else if (stuck) {
    verdict = deadlock_verdict(run);
  }
  verdict.not_known = gap_sentences(run);
  return verdict;
}

}  // namespace hostir::diagnose
