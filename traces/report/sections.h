// The sections of a report, each as HTML; empty if the log has no data for it.
#pragma once

#include <string>
#include <vector>

#include "interp/model/run.h"
#include "traces/reader/log_reader.h"
#include "traces/recorded/job_findings.h"

namespace hostir::traces::report {

Expected<std::string> wait_section(const LogReader& log, const model::Run& run);
/// The canvas and the data that the script draws.
Expected<std::string> timeline_section(const LogReader& log);
/// The rows of `marked` are coloured, and their texts come first.
Expected<std::string> collectives_section(const LogReader& log, const model::Run& run,
                                          const std::vector<CallAtFault>& marked);
std::string layouts_section(const LogReader& log);
Expected<std::string> memory_section(const LogReader& log);
Expected<std::string> program_section(const LogReader& log);

/// `<section id=..><h2>title</h2>body</section>`.
std::string section(std::string_view id, std::string_view title, std::string_view body);

/// The style sheet and the script of every report.
extern const char* const kStyle;
extern const char* const kScript;

}  // namespace hostir::traces::report
