// From files to a verdict: reads the given files, assembles a run, and diagnoses it.
//
// Files of several recorders together describe the same run. Each recorder's files become a run.
// The verdict is that of the first run that names a culprit, most informative recorder first; if
// another recorder names other ranks, a note says so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"
#include "traces/import/call_at_fault.h"
#include "traces/import/read_dumps.h"

namespace hostir::traces::import {

struct OpenedDumps {
  std::shared_ptr<const model::Run> run;  // the verdict points into it; null: only profiles
  DumpFormat format = DumpFormat::kFlightRecorder;
  diagnose::RecordedVerdict verdict;
  std::vector<std::string> profiles;  // files that hold profiles
  std::vector<std::string> notes;     // omitted files, other recorders' verdicts; one sentence each
};

/// The wrong call, and the one in whose place it was made or that is missing. Empty without a
/// fault.
std::vector<CallAtFault> calls_at_fault(const OpenedDumps& opened);

/// The same files, read as those of a job that is known to be stuck: its calls need not be older
/// than their timeouts.
OpenedDumps taken_as_stuck(OpenedDumps opened);

/// Errors: those of read_dumps() and assemble().
Expected<OpenedDumps> open_dumps(const std::vector<std::string>& paths);

/// Text for a terminal: the sentence, notes, and what is unknown. `trial`: the result of running
/// the repaired calls; empty: not tried.
std::string to_text(const OpenedDumps& opened, const std::string& trial);
/// The last part of it: notes, and what is unknown.
std::string notes_text(const OpenedDumps& opened);
/// One JSON object, for scripts; the fields are described in traces/import/README.md.
std::string to_json(const OpenedDumps& opened, const std::string& trial);

}  // namespace hostir::traces::import
