// From files to a verdict: reads what was named, makes a run of it, judges it.
//
// Files of several recorders that lie together tell the same run in their own words. Each
// recorder's files become a run; the verdict is that of the first that accuses, by how much the
// recorder knows, and where another one accuses other ranks, that is said.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interp/diagnose/recorded.h"
#include "traces/import/read_dumps.h"

namespace hostir::traces::import {

struct OpenedDumps {
  std::shared_ptr<const model::Run> run;  // the verdict points into it
  DumpFormat format = DumpFormat::kFlightRecorder;
  diagnose::RecordedVerdict verdict;
  std::vector<std::string> notes;  // files left out, other recorders' views; one sentence each
};

/// Errors: those of read_dumps() and assemble().
Expected<OpenedDumps> open_dumps(const std::vector<std::string>& paths);

/// For a terminal: the sentence, notes, what is not known. `trial` is what the repaired run says;
/// empty: not tried.
std::string to_text(const OpenedDumps& opened, const std::string& trial);
/// One JSON object, for scripts; the fields are described in traces/import/README.md.
std::string to_json(const OpenedDumps& opened, const std::string& trial);

}  // namespace hostir::traces::import
