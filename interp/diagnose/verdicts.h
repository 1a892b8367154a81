// The verdicts that diagnose() combines.
#pragma once

#include <optional>

#include "interp/diagnose/recorded.h"
#include "interp/model/verdict.h"

namespace hostir::diagnose {

/// Why a run is stuck: judge()'s verdict; without one, the shortest cycle of waits; without a
/// cycle, the calls that never complete.
model::Verdict deadlock_verdict(const model::Run& run, const RecordedVerdict& judged);

/// True if the arrived members made calls that do not match.
bool disagree(const model::Meeting& meeting);

/// Which disagreements to report: only those proven by a strict majority or by the presence of all
/// members, or all, if no more members can arrive.
enum class Pending : uint8_t { kLeaveOut, kTell };
/// The first meeting, by (communicator, sequence), then the first pair, whose members disagree.
std::optional<model::Verdict> mismatch_verdict(const model::Run& run, Pending pending);

}  // namespace hostir::diagnose
