// A run as one HTML file that needs no network: for a colleague, a ticket, a phone.
//
// The file holds the verdict, the wait graph, the timeline, the collectives, the layouts of sharded
// tensors, memory, and the program with the instructions at fault. Everything but the timeline is
// plain HTML and SVG; the timeline is drawn by a script in the file. All texts are escaped, because
// they may come from untrusted files.
#pragma once

#include <string>

#include "traces/reader/log_reader.h"

namespace hostir::traces::report {

/// `title`: `tp_mlp.hir`, `dumps/`.
/// Errors: those of reading the log.
Expected<std::string> report_html(const LogReader& log, const std::string& title);

}  // namespace hostir::traces::report
