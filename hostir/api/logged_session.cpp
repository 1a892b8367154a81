#include "hostir/api/logged_session.h"

#include <algorithm>
#include <filesystem>

#include "hostir/api/backends.h"
#include "interp/session/answers/answer.h"
#include "interp/session/commands/command_table.h"
#include "traces/log_session.h"
#include "traces/log_snapshot.h"
#include "traces/replay.h"

namespace hostir::api {

namespace {

tl::unexpected<Error> not_run_yet() {
  return fail(ErrorKind::kRuntime, "not_run_yet",
              "this end is read from the log, which does not hold contents: `goto end` runs the "
              "program to here");
}

}  // namespace

TemporaryFile::~TemporaryFile() {
  if (!temporary_) return;
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix, ignored);
}

LoggedSession::LoggedSession(std::unique_ptr<TemporaryFile> file,
                             std::unique_ptr<traces::TraceWriter> writer,
                             std::unique_ptr<traces::LogReader> reader)
    : file_(std::move(file)), writer_(std::move(writer)), reader_(std::move(reader)) {}

Expected<void> LoggedSession::start(std::shared_ptr<const interp::Prepared> prepared,
                                    interp::LiveOptions options) {
  watch_ =
      std::make_unique<interp::ValueWatch>(writer_.get(), interp::ValueWatch::Forward::kValues);
  options.trace = watch_.get();
  options.log = reader_.get();
  auto live = interp::LiveSession::create(prepared, make_backend_factory(), std::move(options));
  if (!live) return tl::unexpected(interp::in_given_text(live.error(), *prepared->view));
  live_ = std::move(*live);
  watch_->attach(live_->interpreter());
  return publish();
}

void LoggedSession::show_recorded(std::unique_ptr<traces::LogReader> recorded, std::string path) {
  recorded_ = std::move(recorded);
  recorded_path_ = std::move(path);
  shows_recorded_ = true;
  // A damaged log is shown up to the damage; `trace info --check` reports the error.
  loading_ = std::jthread(
      [log = recorded_.get()](const std::stop_token& stop) { traces::follow(*log, stop); });
}

Expected<void> LoggedSession::show_end() {
  HOSTIR_ASSIGN_OR_RETURN(interp::Snapshot end, traces::end_of(*recorded_, ""));
  end.from_log = true;
  end.program = live_->snapshot()->program;
  end.last_decision = live_->snapshot()->last_decision;
  end.position.decision = end.last_decision;
  end_ = std::make_shared<const interp::Snapshot>(std::move(end));
  return {};
}

Expected<interp::Outcome> LoggedSession::execute(const interp::Command& command,
                                                 std::stop_token stop) {
  if (end_) return execute_at_end(command, stop);
  auto outcome = live_->execute(command, stop);
  if (live_->departed()) shows_recorded_ = false;
  if (outcome && outcome->ran) {
    tell_births(*outcome);
    HOSTIR_TRY(publish());
  }
  return outcome;
}

Expected<interp::ValueReading> LoggedSession::read(const interp::ValueQuery& query) {
  if (end_) return not_run_yet();
  return live_->read(query);
}

Expected<interp::Inside> LoggedSession::inside(const interp::InsideQuery& query) {
  if (end_) return not_run_yet();
  return live_->inside(query);
}

Expected<std::vector<interp::PastValue>> LoggedSession::past_values(const interp::PastQuery& query,
                                                                    std::stop_token stop) const {
  return traces::replay_element(shows_recorded_ ? recorded_path_ : file_->path(),
                                make_backend_factory(), query, std::move(stop));
}

Expected<void> LoggedSession::past_contents(const std::vector<interp::PastWrite>& writes,
                                            const interp::TakeContents& take,
                                            std::stop_token stop) const {
  return traces::replay_contents(shows_recorded_ ? recorded_path_ : file_->path(),
                                 make_backend_factory(), writes, take, std::move(stop));
}

Expected<interp::WhatIf> LoggedSession::what_if(const interp::Snapshot& shot,
                                                const interp::WhatIfOptions& options) const {
  return live_->what_if(shot, options);
}

// Looks at the end as the log has it. A move leaves it: the program runs, first to the end unless
// the command names its target.
Expected<interp::Outcome> LoggedSession::execute_at_end(const interp::Command& command,
                                                        const std::stop_token& stop) {
  if (interp::only_looks(command.kind)) {
    interp::Outcome out;
    HOSTIR_ASSIGN_OR_RETURN(out.text, interp::answer(*this, command));
    return out;
  }
  if (!interp::needs_run(command.kind)) {
    HOSTIR_ASSIGN_OR_RETURN(interp::Outcome out, live_->execute(command, stop));
    const interp::SnapshotPtr changed = live_->snapshot();
    auto shot = std::make_shared<interp::Snapshot>(*end_);
    shot->focus = changed->focus;
    shot->step_scope = changed->step_scope;
    shot->breakpoints = changed->breakpoints;
    end_ = std::move(shot);
    return out;
  }
  end_.reset();
  const bool has_target =
      command.kind == interp::CommandKind::kGoto || command.kind == interp::CommandKind::kRun;
  if (!has_target) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::Command end, interp::parse_command("goto end"));
    HOSTIR_ASSIGN_OR_RETURN(interp::Outcome there, execute(end, stop));
    if (stop.stop_requested()) return there;
  }
  return execute(command, stop);
}

// Adds a line for the first NaN and the first infinity once the run has passed their origin. Does
// nothing after the user has changed the history, because the watch has then seen events of both
// lines.
void LoggedSession::tell_births(interp::Outcome& outcome) {
  if (live_->departed()) return;
  const uint64_t position = live_->snapshot()->position.decision;
  std::erase_if(told_births_, [&](const interp::LogLine& line) {
    return line.position > outcome.log_from || line.position > position;
  });
  for (const interp::LogLine& line : watch_->births()) {
    const bool told =
        std::find(told_births_.begin(), told_births_.end(), line) != told_births_.end();
    if (told || line.position > position) continue;
    told_births_.push_back(line);
    outcome.logged.push_back(line);
  }
}

// Makes executed instructions visible in the log before it is queried.
Expected<void> LoggedSession::publish() {
  HOSTIR_TRY(writer_->flush());
  HOSTIR_TRY(reader_->refresh());
  return {};
}

}  // namespace hostir::api
