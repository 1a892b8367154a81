// 1. Members that disagree, if their own calls prove it.
// 2. If the run is stuck, the deadlock.
// 3. Otherwise nothing.
// judge() decides who is at fault and words it.

#include <utility>

#include "interp/diagnose/calls/call_order.h"
#include "interp/diagnose/engine/gaps.h"
#include "interp/diagnose/recorded.h"
#include "interp/diagnose/text/sentences.h"
#include "interp/diagnose/verdicts.h"

namespace hostir::diagnose {

namespace {

// True if the charge is a wrong call, not a rank that others wait for.
bool is_of_calls(Charge charge) {
  switch (charge) {
    case Charge::kLeftOut:
    case Charge::kExtraCall:
    case Charge::kSwapped:
    case Charge::kDifferentCall:
    case Charge::kBlocks:
    case Charge::kWrongPeer:
    case Charge::kWrongGroup:
      return true;
    case Charge::kNone:
    case Charge::kNeverCame:
    case Charge::kDied:
    case Charge::kStopped:
    case Charge::kNoRecord:
    case Charge::kOrder:
      return false;
  }
  return false;
}

// Nobody waits in a call that was left out, so no other note has its line.
void point_to_left_out(const model::Run& run, const RecordedVerdict& judged,
                       model::Verdict& verdict) {
  const model::Member* missing = judged.missing.member;
  const bool told = judged.charge == Charge::kLeftOut && !judged.culprits.empty() &&
                    verdict.sentence.ends_with(judged.sentence);
  if (!told || missing == nullptr || !stack_is_known(run, *missing)) return;
  verdict.culprit = verdict.notes.size();
  verdict.notes.push_back({judged.culprits, missing->instruction,
                           model::list_of(judged.culprits) + " left out " +
                               instruction_name(run, missing->instruction)});
}

}  // namespace

model::Verdict diagnose(const model::Run& run) {
  const bool stuck = run.motion == model::Motion::kStuck;
  auto mismatch = mismatch_verdict(run, stuck ? Pending::kTell : Pending::kLeaveOut);
  model::Verdict verdict;
  if (mismatch || stuck) {
    const RecordedVerdict judged = judge(run);
    verdict = mismatch ? std::move(*mismatch) : deadlock_verdict(run, judged);
    if (mismatch && judged.is_fault() && is_of_calls(judged.charge))
      verdict.sentence = judged.sentence;
    point_to_left_out(run, judged, verdict);
  }
  verdict.not_known = gap_sentences(run);
  return verdict;
}

}  // namespace hostir::diagnose
