// From files to a verdict: reads the given files, assembles a run, and diagnoses it.
//
// The files may be from several recorders of the same job. Each recorder's files become a run. The
// verdict is that of the first run that names a culprit, most informative recorder first; if
// another recorder names other ranks, a note says so.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"
#include "traces/import/read_dumps.h"

namespace hostir::traces::import {

struct OpenedDumps {
  std::shared_ptr<const model::Run> run;  // the verdict points into it; null: only profiles
  DumpFormat format = DumpFormat::kFlightRecorder;
  diagnose::RecordedVerdict verdict;
  std::vector<std::string> profiles;  // files that hold profiles
  SkippedFiles skipped;
  std::vector<std::string> notes;  // readers' remarks, other recorders' verdicts; one sentence each
};

/// The same files, read as those of a job that is known to be stuck: its calls need not be older
/// than their timeouts.
OpenedDumps taken_as_stuck(OpenedDumps opened);

/// Errors: those of read_dumps() and assemble().
Expected<OpenedDumps> open_dumps(const std::vector<std::string>& paths);

}  // namespace hostir::traces::import
