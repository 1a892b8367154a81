// Describes stops in sentences.
#include <fmt/core.h>

#include <algorithm>

#include "interp/model/verdict.h"
#include "interp/session/answers/fault_names.h"
#include "interp/session/checks/result_replicas.h"
#include "interp/session/commands/rank_selection.h"
#include "interp/session/live/live_session.h"

namespace hostir::interp {
namespace {

StopReason make(StopKind kind, std::string sentence, const StopReport& report) {
  return {kind, std::move(sentence), report.rank, report.breakpoint};
}

StopReason fault_reason(const StopReport& report, const Interpreter& interpreter) {
  const std::vector<Fault>& faults = interpreter.faults();
  if (faults.empty()) return make(StopKind::kFault, "A fault was found.", report);
  const Fault& last = faults.back();
  const bool deadlock = last.record.kind == "deadlock";
  return make(deadlock ? StopKind::kDeadlock : StopKind::kFault,
              fmt::format("{}: {}.", fault_name(last.record.kind), last.record.sentence), report);
}

std::string breakpoint_sentence(const StopReport& report, const Interpreter& interpreter) {
  const std::string number =
      report.breakpoint > 0 ? fmt::format("Breakpoint {}", report.breakpoint) : "Stop";
  if (report.rank == kNoRank) return number + ".";
  std::string visitors;
  if (report.visitors && report.visitors->ranks > 1) {
    const auto [past, ranks, came_first] = *report.visitors;
    visitors = past == 0 && came_first ? fmt::format(", the first of {} ranks", ranks)
                                       : fmt::format(", {} of {} ranks {} past it", past, ranks,
                                                     past == 1 ? "is" : "are");
  }
  return fmt::format("{}, rank {} at {}{}.", number, report.rank,
                     interpreter.code().address(report.code), visitors);
}

// If no rank waits for another, virtual time cannot advance: a host that is frozen, or that steps
// do not move, holds it back.
std::string why_nobody_moves(const Interpreter& interpreter) {
  const model::WaitGraph graph = diagnose::wait_graph(interpreter.run_model());
  if (!graph.sentence.empty()) return graph.sentence;
  std::vector<Rank> frozen;
  for (Rank r = 0; r < interpreter.code().rank_count; ++r) {
    if (interpreter.rank(r).frozen) frozen.push_back(r);
  }
  if (frozen.empty()) return "the work in flight waits for ranks that steps do not move";
  const bool one = frozen.size() == 1;
  return fmt::format("the work in flight waits for {}, which {} frozen; thaw to continue",
                     ranks_to_string(frozen, interpreter.code().rank_count), one ? "is" : "are");
}

}  // namespace

StopReason stop_reason(const StopReport& report, const Interpreter& interpreter) {
  using Reason = StopReport::Reason;
  switch (report.reason) {
    case Reason::kStepped:
      return make(StopKind::kStep, "", report);
    case Reason::kBreakpoint:
      return make(StopKind::kBreakpoint, breakpoint_sentence(report, interpreter), report);
    case Reason::kFault:
      return fault_reason(report, interpreter);
    case Reason::kBlocked:
    case Reason::kStuck:
      return make(StopKind::kNobodyMoves,
                  fmt::format("Nobody can move: {}.", why_nobody_moves(interpreter)), report);
    case Reason::kFinished: {
      if (!interpreter.faults().empty()) {
        const Fault& first = interpreter.faults().front();
        StopReason out = make(StopKind::kFinished,
                              fmt::format("The run ended; {}: {}.", fault_name(first.record.kind),
                                          first.record.sentence),
                              report);
        out.wrong = std::any_of(interpreter.faults().begin(), interpreter.faults().end(),
                                [](const Fault& f) { return f.severity == Severity::kError; });
        return out;
      }
      if (const auto wrong = differing_results(interpreter)) {
        StopReason out = make(StopKind::kFinished,
                              fmt::format("The run ended, but {}: {}.",
                                          fault_name(wrong->record.kind), wrong->record.sentence),
                              report);
        out.wrong = true;
        return out;
      }
      return make(StopKind::kFinished, "The run ended: all ranks returned, all streams drained.",
                  report);
    }
    case Reason::kBeginning:
      return make(StopKind::kBegin, "This is the start of the history.", report);
    case Reason::kLimit:
      return make(StopKind::kInterrupted, "Interrupted.", report);
  }
  return {};
}

}  // namespace hostir::interp
