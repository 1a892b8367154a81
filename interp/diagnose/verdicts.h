// The verdicts that diagnose() chooses from.
#pragma once

#include <optional>

#include "interp/model/verdict.h"

namespace hostir::diagnose {

/// Of a run that is stuck: who is at fault, else the shortest cycle, else what does not complete.
model::Verdict deadlock_verdict(const model::Run& run);

/// Whether members that came state what does not fit together.
bool disagree(const model::Meeting& meeting);

/// Which disagreements are told: those that a strict majority or the presence of all members
/// proves, or all of them, where nobody will come any more.
enum class Pending : uint8_t { kLeaveOut, kTell };
/// The first meeting, by (communicator, sequence), then the first pair, whose members disagree.
std::optional<model::Verdict> mismatch_verdict(const model::Run& run, Pending pending);

}  // namespace hostir::diagnose
