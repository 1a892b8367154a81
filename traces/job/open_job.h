// Everything that other tools' files tell about a job: the verdict on the dumps, the repaired run
// that tests it, the profiles beside them, the files that could not be read.
//
// Terminal, JSON, log, report and window take it from here, so that all of them say the same.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "interp/session/prepare/prepared_run.h"
#include "traces/import/open_dumps.h"
#include "traces/profile/job_profile.h"
#include "traces/recorded/job_findings.h"
#include "traces/skeleton/trial.h"

namespace hostir::traces {

struct OpenedJob {
  import::OpenedDumps dumps;  // `dumps.run` null: there are only profiles
  std::optional<profile::JobProfile> profile;
  Trial trial;  // its sentence is empty until try_out()
};

/// Unreadable files are skipped as long as another one tells something.
/// Errors: those of open_dumps() and open_profiles().
Expected<OpenedJob> open_job(const std::vector<std::string>& paths);
/// Tests the verdict by simulation, which can take seconds. Nothing is run if nobody is accused.
void try_out(OpenedJob& job, const interp::BackendFactory& make_backend);

JobFindings findings_of(const OpenedJob& job);
/// The dumps' calls or, without dumps, the profiles' work, with all findings. Replaces an older log
/// at `path`. `source_name`: human-readable origin. Errors: those of write_log().
Expected<void> write_job_log(const OpenedJob& job, const std::string& path,
                             const std::string& command_line, const std::string& source_name);

/// Text for a terminal. headline(): the verdict, or what the profiles say; rest(): what follows it.
std::string headline(const OpenedJob& job);
std::string rest(const OpenedJob& job);
/// One JSON object, for scripts; the fields are described in traces/job/README.md.
std::string to_json(const OpenedJob& job);

}  // namespace hostir::traces
