// Writes the facts about a job as a log.
#include <algorithm>

#include "traces/job/open_job.h"
#include "traces/profile/profile_run.h"
#include "traces/writer/log_builder.h"

namespace hostir::traces {

Expected<void> write_job_log(const OpenedJob& job, const std::string& path,
                             const std::string& command_line, const std::string& source_name) {
  const JobFindings findings = findings_of(job);
  LogBuilderOptions options;
  options.command_line = command_line;
  options.source_name = source_name;
  options.properties = to_properties(findings);
  if (job.dumps.run == nullptr) return write_log(path, profile::to_run(*job.profile), options);
  // The log's fault contains only what is certain.
  model::Verdict& judged = options.judged.emplace(diagnose::to_verdict(job.dumps.verdict));
  if (judged.is_fault()) {
    const size_t own = job.dumps.verdict.notes.size();
    for (const std::string& text : {findings.trial, findings.profile}) {
      if (!text.empty()) judged.notes.push_back({{}, {}, text});
    }
    for (size_t i = own; i < findings.notes.size(); ++i)
      judged.notes.push_back({{}, {}, findings.notes[i]});
  }
  return write_log(path, *job.dumps.run, options);
}

}  // namespace hostir::traces
