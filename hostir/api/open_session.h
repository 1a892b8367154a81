// Opening what a person names: a program becomes a live session with a log, a log one that runs
// again.
//
// The implementation of SessionFactory: the only place where sessions, backends and logs meet. A
// live session always has a log; where none was asked for it is a temporary file that goes with the
// session.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "hostir/api/program_options.h"
#include "interp/session/live_session.h"
#include "interp/session/session_factory.h"

namespace hostir::traces {
class LogReader;
}

namespace hostir::api {

struct SessionOptions {
  ProgramOptions program;  // path and function are taken from the request
  BackendOptions backend;
  std::string log_path;  // empty: temporary
  std::string values = "digest";
  enum class MissingInputs : uint8_t { kError, kMakeUp } missing_inputs = MissingInputs::kError;
};

/// Whether the beginning of a file, `kHeadBytes` of it, is that of a log (an SQLite file).
bool is_log(std::string_view head);
inline constexpr size_t kHeadBytes = 4096;

class SessionOpener final : public interp::SessionFactory {
 public:
  explicit SessionOpener(SessionOptions options) : options_(std::move(options)) {}

  /// A log whose program cannot be prepared again opens all the same, to be looked at
  /// (traces/log_session.h). Errors: of reading, parsing, preparing; of the log; `cancelled`.
  /// Diagnostics point into sources().
  Expected<std::unique_ptr<interp::Session>> open(const interp::OpenRequest& request,
                                                  const interp::Preparing& watch = {}) override;
  Expected<std::unique_ptr<interp::PastRun>> open_beside(
      const std::string& path, const interp::Preparing& watch = {}) const override;
  const SourceManager& sources() const override { return file_.sources; }
  std::string notice() const override { return notice_; }
  std::string warning() const override { return warning_; }

 private:
  Expected<std::shared_ptr<const interp::Prepared>> prepare_program(
      const interp::OpenRequest& request, const interp::Preparing& watch);

  Expected<std::unique_ptr<interp::Session>> open_recorded(const interp::OpenRequest& request,
                                                           const interp::Preparing& watch);
  /// The recorded program once more, at its start; the log is taken only if that works.
  Expected<std::unique_ptr<interp::Session>> start_recorded(std::unique_ptr<traces::LogReader>& log,
                                                            const interp::OpenRequest& request,
                                                            const interp::Preparing& watch);
  Expected<std::unique_ptr<interp::Session>> start(std::shared_ptr<const interp::Prepared> prepared,
                                                   interp::LiveOptions live,
                                                   const interp::OpenRequest& request,
                                                   const interp::Preparing& watch,
                                                   std::unique_ptr<traces::LogReader>* recorded);

  SessionOptions options_;
  LoadedFile file_;
  std::string notice_;
  std::string warning_;
};

}  // namespace hostir::api
