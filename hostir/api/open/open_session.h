// Opens a program or a log as a live session; a log's program is run again. Other tools' files
// about a job open as the log that `hostir open --trace` writes.
//
// Implements SessionFactory. Only this code combines sessions, backends and logs. A live session
// always has a log. Without a log path, it is a temporary file that is deleted with the session.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hostir/api/open/program_options.h"
#include "interp/session/live/live_session.h"
#include "interp/session/session_factory.h"

namespace hostir::traces {
class LogReader;
}

namespace hostir::api {

struct SessionOptions {
  ProgramOptions program;  // path and function come from the request
  BackendOptions backend;
  std::string log_path;  // empty: temporary
  std::string values = "digest";
  // The end of a longer recorded run is shown from its log (OpenRequest::at_outcome); running this
  // many decisions again takes about a second.
  uint64_t max_decisions_to_outcome = 200'000;
  enum class MissingInputs : uint8_t { kError, kMakeUp } missing_inputs = MissingInputs::kError;
};

/// True if `head`, the first kHeadBytes of a file, is the start of a log (an SQLite file).
bool is_log(std::string_view head);
inline constexpr size_t kHeadBytes = 4096;

class SessionOpener final : public interp::SessionFactory {
 public:
  explicit SessionOpener(SessionOptions options) : options_(std::move(options)) {}

  /// A log whose program cannot be prepared again opens read-only (traces/recorded/log_session.h).
  /// Errors: those of reading, parsing and preparing; those of the log; `cancelled`. Diagnostics
  /// refer to sources().
  Expected<std::unique_ptr<interp::Session>> open(
      const interp::OpenRequest& request, const interp::PrepareProgress& watch = {}) override;
  Expected<std::unique_ptr<interp::ReplaySource>> open_for_comparison(
      const std::string& path, const interp::PrepareProgress& watch = {}) const override;
  const SourceManager& sources() const override { return file_.sources; }
  std::string notice() const override { return notice_; }
  std::string warning() const override { return warning_; }

 private:
  Expected<std::shared_ptr<const interp::Prepared>> prepare_program(
      const interp::OpenRequest& request, const interp::PrepareProgress& watch);

  Expected<std::unique_ptr<interp::Session>> open_recorded(std::unique_ptr<traces::LogReader> log,
                                                           const interp::OpenRequest& request,
                                                           const interp::PrepareProgress& watch);
  /// Starts the recorded program again. Moves from `log` only on success.
  Expected<std::unique_ptr<interp::Session>> start_recorded(std::unique_ptr<traces::LogReader>& log,
                                                            const interp::OpenRequest& request,
                                                            const interp::PrepareProgress& watch);
  Expected<std::unique_ptr<interp::Session>> start(std::shared_ptr<const interp::Prepared> prepared,
                                                   interp::LiveOptions live,
                                                   const interp::OpenRequest& request,
                                                   const interp::PrepareProgress& watch,
                                                   std::unique_ptr<traces::LogReader>* recorded);

  SessionOptions options_;
  LoadedFile file_;
  std::string notice_;
  std::string warning_;
};

}  // namespace hostir::api
