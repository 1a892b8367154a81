// A session over a log alone: everything can be inspected, nothing can be stepped.
//
// For logs whose program cannot be prepared again: the text is missing, no longer lowers, or its
// inputs are gone. The snapshot is at the end of the recorded run and shows what the log contains:
// layouts, ledger, faults. Contents of tensors are unknown. Inspection commands and `rank` work;
// all others fail with the reason. The timeline is read in the background.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include "interp/session/session.h"
#include "traces/reader/log_reader.h"

namespace hostir::traces {

/// Reads the log, and again whatever its writer adds, until `stop` or until the log is complete.
/// Blocks.
void follow(LogReader& log, const std::stop_token& stop);

class LogSession final : public interp::Session {
 public:
  /// `why`: the reason why the program cannot run again, a sentence without a full stop.
  static Expected<std::unique_ptr<LogSession>> create(std::unique_ptr<LogReader> log,
                                                      std::string why);

  Expected<interp::Outcome> execute(const interp::Command& command, std::stop_token stop) override;
  Expected<interp::FollowedLog> follow() override;
  interp::SnapshotPtr snapshot() const override { return snapshot_; }
  Expected<interp::ValueReading> read(const interp::ValueQuery& query) override;
  Expected<std::vector<interp::PastValue>> past_values(const interp::PastQuery& query,
                                                       std::stop_token stop) const override;
  const interp::LogView* log() const override { return log_.get(); }

 private:
  LogSession() = default;

  std::unique_ptr<LogReader> log_;
  interp::SnapshotPtr snapshot_;
  bool follows_ = false;   // the log was being written when last looked at
  uint64_t followed_ = 0;  // the log's generation when `snapshot_` was made
  std::jthread loading_;   // reads the timeline; must end before the log does
};

}  // namespace hostir::traces
