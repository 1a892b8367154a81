// A verdict on recorded calls, as logs store verdicts, and the names of charges.
#include <fmt/format.h>

#include "interp/diagnose/recorded.h"

namespace hostir::diagnose {

namespace {

bool is_mismatch(Charge charge) {
  return charge == Charge::kDifferentCall || charge == Charge::kBlocks ||
         charge == Charge::kWrongPeer;
}

}  // namespace

std::string_view name(Charge charge) {
  switch (charge) {
    case Charge::kNone:
      return "none";
    case Charge::kLeftOut:
      return "left_out_call";
    case Charge::kExtraCall:
      return "extra_call";
    case Charge::kSwapped:
      return "swapped_calls";
    case Charge::kDifferentCall:
      return "collective_mismatch";
    case Charge::kBlocks:
      return "block_mismatch";
    case Charge::kWrongPeer:
      return "wrong_peer";
    case Charge::kWrongGroup:
      return "wrong_group";
    case Charge::kNeverCame:
      return "never_came";
    case Charge::kDied:
      return "died";
    case Charge::kStopped:
      return "stopped";
    case Charge::kNoRecord:
      return "no_record";
    case Charge::kOrder:
      return "order";
  }
  return "";
}

model::Verdict to_verdict(const RecordedVerdict& judged) {
  model::Verdict out;
  if (!judged.is_fault()) return out;
  out.kind = is_mismatch(judged.charge) ? "collective_mismatch" : "deadlock";
  out.sentence = judged.sentence;
  out.communicator = judged.communicator;
  out.sequence = judged.sequence;
  out.not_known = judged.not_known;
  model::VerdictNote accused;
  accused.ranks = judged.culprits;
  if (judged.at.member != nullptr) accused.instruction = judged.at.member->instruction;
  if (!judged.culprits.empty()) {
    accused.text = fmt::format("at fault: rank{} {}", judged.culprits.size() == 1 ? "" : "s",
                               fmt::join(judged.culprits, ", "));
    out.notes.push_back(std::move(accused));
  }
  for (const std::string& note : judged.notes) out.notes.push_back({{}, {}, note});
  return out;
}

}  // namespace hostir::diagnose
