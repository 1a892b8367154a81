// The log of a run, and the options on what it keeps.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hostir/api/open/program_file.h"
#include "interp/session/prepare/prepared_run.h"
#include "traces/writer/contents_sink.h"
#include "traces/writer/trace_writer.h"

namespace hostir::api {

/// An open log.
class RunLog {
 public:
  /// `data_globs`: names of tensors whose contents are kept.
  RunLog(std::unique_ptr<traces::TraceWriter> writer, interp::Backend::ValueMode mode,
         const std::vector<std::string>& data_globs);
  /// Logs the run with these options. At most one run per log.
  void attach(interp::RunOptions& options);
  /// The outcome is the kind of the first fault that is an error, not a warning.
  Expected<void> close(std::span<const interp::Fault> faults);
  Expected<void> close(const std::string& outcome);

 private:
  std::unique_ptr<traces::TraceWriter> writer_;
  interp::Backend::ValueMode mode_;
  std::unique_ptr<traces::ContentsSink> contents_;  // null: contents are not kept
};

struct LogOptions {
  std::string path;
  std::optional<std::string> values;      // digest
  std::optional<int64_t> inputs_max_mib;  // 64

  /// Opens the log; null if none is requested. Errors: kUsage; those of the writer.
  Expected<std::unique_ptr<RunLog>> open(const interp::Prepared& prepared,
                                         const interp::BackendRequest& backend) const;
};

/// The command line of this process, for the log.
std::string this_command_line();

}  // namespace hostir::api
