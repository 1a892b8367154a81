// A live session and the log that it writes.
//
// A session opened from a log shows the whole recorded log, which is read in the background, until
// an edit, a freeze or a different rank order makes it a different run.
//
// A device cannot go back. The first command that does ends its run and continues as if its log had
// been opened: the simulator repeats its decisions from the same inputs. `run` starts a new run on
// the device.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hostir/api/open/backends.h"
#include "hostir/support/temporary_file.h"
#include "interp/session/live/live_session.h"
#include "interp/session/values/value_watch.h"
#include "traces/reader/log_reader.h"
#include "traces/writer/trace_writer.h"

namespace hostir::api {

/// A log that is written and read at the same time. Destruction is in reverse member order: the
/// reader closes, the writer closes the file, and a temporary file is deleted.
struct OpenLog {
  std::unique_ptr<TemporaryFile> file;
  std::unique_ptr<traces::TraceWriter> writer;
  std::unique_ptr<traces::LogReader> reader;

  /// `path` is empty for a temporary file. Errors: those of the file system and of SQLite.
  static Expected<OpenLog> create(const std::string& path, const traces::RunDescription& run,
                                  const traces::TraceOptions& options);
};

/// Destruction is in reverse member order: reading the recorded log ends, then the session, then
/// the logs close.
class LoggedSession final : public interp::Session {
 public:
  explicit LoggedSession(interp::BackendFactory make_backend = make_backend_factory())
      : make_backend_(std::move(make_backend)) {}

  /// `log_path` is empty for a temporary log.
  Expected<void> start(std::shared_ptr<const interp::Prepared> prepared,
                       interp::LiveOptions options, const std::string& log_path,
                       std::string command_line, const traces::TraceOptions& trace);
  void show_recorded(std::unique_ptr<traces::LogReader> recorded, std::string path);
  /// Shows the end of the recorded run, made from its log, until a command needs the run itself.
  /// Errors: those of reading the log.
  Expected<void> show_end();

  Expected<interp::Outcome> execute(const interp::Command& command, std::stop_token stop) override;
  Expected<interp::FollowedLog> follow() override;
  interp::SnapshotPtr snapshot() const override {
    if (const LoggedSession* next = next_now_) return next->snapshot();
    return end_ ? end_ : live_->snapshot();
  }
  /// Error `not_run_yet`: the end is shown from the log, which does not hold contents.
  Expected<interp::ValueReading> read(const interp::ValueQuery& query) override;
  Expected<interp::Inside> inside(const interp::InsideQuery& query) override;
  Expected<std::vector<interp::PastValue>> past_values(const interp::PastQuery& query,
                                                       std::stop_token stop) const override;
  Expected<void> past_contents(const std::vector<interp::PastWrite>& writes,
                               const interp::TakeContents& take,
                               std::stop_token stop) const override;
  Expected<interp::WhatIf> what_if(const interp::Snapshot& shot,
                                   const interp::WhatIfOptions& options) const override;
  const interp::LogView* log() const override {
    if (const LoggedSession* next = next_now_) return next->log();
    return shows_recorded_ ? recorded_.get() : log_.reader.get();
  }

 private:
  Expected<interp::Outcome> execute_at_end(const interp::Command& command,
                                           const std::stop_token& stop);
  enum class Return : uint8_t { kNotNeeded, kAgain, kOnSimulator };
  Return way_back(const interp::Command& command) const;
  Expected<std::unique_ptr<LoggedSession>> another_run(interp::LiveOptions options) const;
  void give_way_to(std::unique_ptr<LoggedSession> next);
  std::string where_the_log_is() const;
  Expected<interp::Outcome> run_again(const interp::Command& command, const std::stop_token& stop);
  Expected<interp::Outcome> go_back_on_simulator(const interp::Command& command,
                                                 const std::stop_token& stop);
  void tell_births(interp::Outcome& outcome);
  Expected<void> publish();

  interp::BackendFactory make_backend_;
  std::shared_ptr<const interp::Prepared> prepared_;
  interp::LiveOptions options_;  // without recorded decisions
  std::string command_line_;
  traces::TraceOptions trace_;
  OpenLog log_;
  std::unique_ptr<interp::ValueWatch> watch_;  // forwards everything to the writer
  std::unique_ptr<interp::LiveSession> live_;
  std::vector<interp::LogLine> told_births_;
  std::string recorded_path_;
  std::unique_ptr<traces::LogReader> recorded_;  // kept when no longer shown
  std::atomic<bool> shows_recorded_ = false;
  interp::SnapshotPtr end_;  // see show_end; null once something moved
  bool follows_ = false;     // the recorded log was still being written at the last look
  uint64_t followed_ = 0;    // the recorded log's generation when `end_` was made
  std::jthread loading_;
  std::unique_ptr<LoggedSession> next_;             // set once a device had to go back
  std::atomic<LoggedSession*> next_now_ = nullptr;  // the same, for all threads
};

}  // namespace hostir::api
