// A session over a running interpreter: the debugger's engine.
//
// Owns the backend, interpreter and history of one prepared program. Each command is one function
// here; interp/core's Stepper defines what a step is. The opener of the session creates the log:
// the trace sink receives events while the session runs, `log` reads them.
// Threads: as for Session.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "interp/core/history/history.h"
#include "interp/core/history/stepper.h"
#include "interp/session/live/live_breakpoints.h"
#include "interp/session/prepare/prepared_run.h"
#include "interp/session/session.h"
#include "interp/session/snapshots/snapshot_builder.h"
#include "interp/session/what_if/what_if.h"

namespace hostir::interp {

struct LiveOptions {
  BackendRequest backend;
  TraceSink* trace = nullptr;    // not owned; outlives the session
  const LogView* log = nullptr;  // not owned; may be null in tests
  std::vector<Rank> ranks;       // ranks that start; empty: all
  Backend::ValueMode value_mode = Backend::ValueMode::kNone;
  HistoryOptions history;
  RecordedLine recorded;                 // decisions of the recorded run being reopened
  uint64_t recorded_length = 0;          // their number, if the scheduler repeats them
  std::vector<std::string> breakpoints;  // commands; those that do not fit this program are dropped
  CheckClaims check_claims;              // for `whatif`; may be empty
};

class LiveSession final : public Session {
 public:
  static Expected<std::unique_ptr<LiveSession>> create(std::shared_ptr<const Prepared> prepared,
                                                       const BackendFactory& make_backend,
                                                       LiveOptions options);
  ~LiveSession() override;

  Expected<Outcome> execute(const Command& command, std::stop_token stop) override;
  SnapshotPtr snapshot() const override { return snapshot_; }
  Expected<ValueReading> read(const ValueQuery& query) override;
  Expected<Inside> inside(const InsideQuery& query) override;
  /// Error `no_log`: only the owner of the log can run it again.
  Expected<std::vector<PastValue>> past_values(const PastQuery& query,
                                               std::stop_token stop) const override;
  Expected<WhatIf> what_if(const Snapshot& shot, const WhatIfOptions& options) const override;
  const LogView* log() const override { return log_; }

  /// False on devices: only another backend can repeat their run.
  bool can_go_back() const { return backend_->checkpoints() != nullptr; }
  /// Takes over the focus, the ranks that steps move, and the breakpoints of another session of the
  /// same program.
  void adopt(const LiveSession& other);

  /// True if the user has taken a decision here, so that this is no longer the recorded run.
  bool departed() const { return decided_by_hand_ || history_->branch() != 0; }
  const Interpreter& interpreter() const { return *interpreter_; }
  History& history() { return *history_; }

 private:
  LiveSession() = default;

  Expected<Outcome> run_command(const Command& command, std::stop_token stop);
  Expected<Outcome> step(StepCommand::Kind kind, Direction direction, const Command& command,
                         std::stop_token stop);
  Expected<Outcome> until(Direction direction, const Command& command, std::stop_token stop);
  Expected<Outcome> until_happening(Direction direction, const Command& command,
                                    std::stop_token stop);
  Expected<Outcome> run_stepper(const StepCommand& command, std::stop_token stop);
  Expected<Outcome> go_to(const Command& command, std::stop_token stop);
  Expected<Outcome> restart(std::stop_token stop);
  Expected<Outcome> choose_ranks(const Command& command);
  void tell_write(const Command& made_by, const StopReport& report, StopReason& stop) const;
  Expected<Outcome> choose_focus(const Command& command);
  Expected<Outcome> freeze(const Command& command);
  Expected<Outcome> edit(const Command& command);
  Expected<Outcome> ask_what_if(std::stop_token stop);
  Expected<Outcome> change_breakpoints(const Command& command);
  Outcome outcome_of(const StopReport& report) const;
  std::vector<Rank> scope() const;
  std::vector<Rank> some_ranks() const;
  /// The last position of the known history, or of the recorded run that the scheduler repeats.
  uint64_t last_known() const;
  void refresh(StopReason stop);

  std::shared_ptr<const Prepared> prepared_;
  BackendFactory make_backend_;
  BackendRequest backend_request_;
  CheckClaims check_claims_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Interpreter> interpreter_;
  std::unique_ptr<History> history_;
  std::unique_ptr<LiveBreakpoints> breakpoints_;
  std::unique_ptr<Stepper> stepper_;
  std::unique_ptr<SnapshotBuilder> builder_;
  const LogView* log_ = nullptr;
  Rank focus_ = 0;
  std::vector<Rank> scope_;     // empty: all
  uint32_t unnamed_ = 0;        // breakpoint created by the running command; 0: none
  RankSelector scope_follows_;  // kGroup: the scope is this group of the focus
  bool decided_by_hand_ = false;
  uint64_t recorded_length_ = 0;
  SnapshotPtr snapshot_;
};

/// Describes a stop in one sentence.
StopReason stop_reason(const StopReport& report, const Interpreter& interpreter);

}  // namespace hostir::interp
