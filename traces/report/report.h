// A run as one HTML file that needs no network: for a colleague, a ticket, a phone.
//
// The file holds the verdict, the wait graph, the timeline, the collectives, the layouts of sharded
// tensors, memory, and the program with the instructions at fault. Everything but the timeline is
// plain HTML and SVG; the timeline is drawn by a script in the file. All texts are escaped, because
// they may come from untrusted files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traces/import/call_at_fault.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces::report {

/// What the caller knows beyond the log.
struct ReportFacts {
  std::string title;       // `tp_mlp.hir`, `dumps/`
  std::string sentence;    // the verdict; empty: that of the log
  bool fault = false;      // whether `sentence` accuses
  bool undecided = false;  // whether it accuses only if the job is stuck
  std::string trial;       // the result of running the repaired program; empty: not tried
  std::vector<import::CallAtFault> marked;  // among the collectives
  std::vector<std::string> notes;
};

/// Errors: those of reading the log.
Expected<std::string> report_html(const LogReader& log, const ReportFacts& facts);

}  // namespace hostir::traces::report
