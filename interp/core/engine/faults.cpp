#include "interp/core/engine/faults.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"

namespace hostir::interp {

std::string FaultReporter::name_of(CodeIndex index) const {
  if (index >= run_.code->instructions.size()) return "@" + run_.code->entry;
  return fmt::format("{} {}", run_.code->address(index),
                     record(run_.code->instructions[index].kind).mnemonic);
}

std::string FaultReporter::note_line(Rank rank, CodeIndex index, LoopPathId path) const {
  std::string note = fmt::format("rank {} was at {}", rank, name_of(index));
  if (path != 0) note += fmt::format(" ({})", run_.paths.to_string(*run_.code, path));
  return note;
}

// Fills in rank, instruction and loop iterations; the caller adds what is wrong.
Fault FaultReporter::fault_at(const Step& step) const {
  Fault fault;
  fault.record.ranks = {step.rank};
  fault.record.instructions = {run_.code->address(step.index)};
  fault.record.notes = {note_line(step.rank, step.index, step.rank_state.loop_path)};
  fault.spans = {run_.code->source(step.index).span};
  return fault;
}

namespace {

bool is_unwritten_result(const Code& code, const Fault& fault) {
  if (fault.record.kind != "uninitialised_read" || fault.fatal) return false;
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    const CodeInstruction& c = code.instructions[i];
    if (c.role == CodeRole::kInstruction && record(c.kind).role == HostRole::kReturn &&
        code.address(i) == fault.record.instructions.front())
      return true;
  }
  return false;
}

// True for an error that may explain why a result was not written.
bool is_cause(const Fault& fault) {
  return fault.severity == Severity::kError && fault.record.kind != "leak" &&
         fault.record.kind != "uninitialised_read";
}

// If another error explains why results were not written, only that one stays an error.
void demote_unwritten_results(const Code& code, std::vector<Fault>& faults) {
  const auto last = faults.end() - 1;
  const bool was_explained = std::any_of(faults.begin(), last, is_cause);
  if (is_cause(*last) == was_explained) return;
  for (auto fault = was_explained ? last : faults.begin(); fault != faults.end(); ++fault) {
    if (is_unwritten_result(code, *fault)) fault->severity = Severity::kWarning;
  }
}

}  // namespace

void FaultReporter::add(Fault fault) {
  if (probe != nullptr) {
    if (fault.fatal && !probe->has_value()) *probe = std::move(fault.record.sentence);
    return;
  }
  fault.position = run_.state.position;
  if (fault.fatal) run_.state.failed = true;
  if (run_.is_logging()) {
    if (fault.fatal) log_rank_states(run_);
    run_.sink->fault(fault.record);
  }
  run_.state.faults.push_back(std::move(fault));
  demote_unwritten_results(*run_.code, run_.state.faults);
}

bool FaultReporter::fault(const Step& step, std::string id, const std::string& what) {
  Fault fault = fault_at(step);
  if (id == "collective_mismatch") fault.kind = ErrorKind::kStuck;
  fault.record.kind = std::move(id);
  fault.record.sentence = what;
  add(std::move(fault));
  return false;
}

// Adds ranks and instruction to the backend's error.
bool FaultReporter::refuse_task(const Step& step, const Error& why) {
  Fault fault = fault_at(step);
  const Diagnostic& reason = why.diagnostics.front();
  fault.kind = why.kind;
  fault.severity = reason.severity;
  fault.record.kind = reason.id;
  fault.record.sentence = fmt::format("rank {}: {}: {}", step.rank, name_of(step), reason.message);
  add(std::move(fault));
  return false;
}

bool FaultReporter::warn(const Step& step, std::string id, const std::string& what,
                         Severity severity) {
  for (Fault& known : run_.state.faults) {
    // Report once per instruction, not once per iteration and rank.
    if (known.record.kind == id && !known.record.instructions.empty() &&
        known.record.instructions.front() == run_.code->address(step.index)) {
      if (severity == Severity::kError) known.severity = severity;
      std::vector<Rank>& ranks = known.record.ranks;
      const bool same_severity = known.severity == severity;
      if (same_severity && !contains(ranks, step.rank)) ranks.push_back(step.rank);
      return true;
    }
  }
  Fault fault = fault_at(step);
  fault.fatal = false;
  fault.severity = severity;
  fault.record.kind = std::move(id);
  fault.record.sentence = what;
  add(std::move(fault));
  return true;
}

Error to_error(const Fault& fault) {
  Error error;
  error.kind = fault.kind;
  Diagnostic d;
  d.severity = fault.severity;
  d.id = fault.record.kind;
  d.message = fault.record.sentence;
  if (fault.culprit < fault.spans.size()) d.span = fault.spans[fault.culprit];
  for (size_t i = 0; i < fault.record.notes.size(); ++i) {
    d.notes.push_back(
        {fault.record.notes[i], i < fault.spans.size() ? fault.spans[i] : SourceSpan{}});
  }
  error.diagnostics.push_back(std::move(d));
  return error;
}

}  // namespace hostir::interp
