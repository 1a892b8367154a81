// Turns the communication verdicts of interp/diagnose into faults.

#include "interp/model/verdict.h"

#include "interp/core/engine/meetings.h"

namespace hostir::interp {

bool Meetings::report_verdict() {
  const model::Verdict verdict = diagnose::diagnose(run_model_of(run_));
  if (!verdict.is_fault()) return true;
  Fault fault;
  fault.kind = ErrorKind::kStuck;
  fault.record.kind = verdict.kind;
  fault.record.sentence = verdict.sentence;
  for (const std::string& who : absent_) fault.record.sentence += "; " + who;
  fault.culprit = verdict.culprit;
  for (const model::VerdictNote& note : verdict.notes) {
    const bool is_known = note.instruction.index < run_.code->instructions.size();
    fault.record.notes.push_back(note.text);
    const auto status = note.ranks.empty()
                            ? RankStatus::kRunnable
                            : run_.state.ranks[static_cast<size_t>(note.ranks.front())].status;
    const bool nowhere = status == RankStatus::kNotStarted || status == RankStatus::kRemote;
    fault.spans.push_back(is_known && !nowhere ? run_.code->source(note.instruction.index).span
                                               : SourceSpan{});
    for (const Rank rank : note.ranks) {
      fault.record.ranks.push_back(rank);
      fault.record.instructions.push_back(is_known ? run_.code->address(note.instruction.index)
                                                   : "");
    }
  }
  faults_.add(std::move(fault));
  return false;
}

}  // namespace hostir::interp
