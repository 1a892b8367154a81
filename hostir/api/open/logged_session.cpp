#include "hostir/api/open/logged_session.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "hostir/api/open/backends.h"
#include "hostir/support/lists.h"
#include "interp/session/answers/answer.h"
#include "interp/session/commands/command_table.h"
#include "traces/recorded/log_session.h"
#include "traces/recorded/log_snapshot.h"
#include "traces/replay/recorded_line.h"
#include "traces/replay/replay.h"

namespace hostir::api {

namespace {

// Creates the file, so that the name is unique. If that fails, opening the log reports it.
std::string temporary_log_path() {
  constexpr int kSuffixLength = 3;
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "hostir-XXXXXX.db").string();
  if (const int file = mkstemps(path.data(), kSuffixLength); file >= 0) close(file);
  return path;
}

// A snapshot with the focus, the ranks that steps move and the breakpoints of another one.
interp::SnapshotPtr with_choices_of(const interp::Snapshot& other, const interp::Snapshot& shot) {
  auto out = std::make_shared<interp::Snapshot>(shot);
  out->focus = other.focus;
  out->step_scope = other.step_scope;
  out->breakpoints = other.breakpoints;
  return out;
}

tl::unexpected<Error> not_run_yet() {
  return fail(ErrorKind::kRuntime, "not_run_yet",
              "this end is read from the log, which does not hold contents: `goto end` runs the "
              "program to here");
}

}  // namespace

Expected<OpenLog> OpenLog::create(const std::string& path, const traces::RunDescription& run,
                                  const traces::TraceOptions& options) {
  OpenLog out;
  const bool temporary = path.empty();
  out.file = std::make_unique<TemporaryFile>(temporary ? temporary_log_path() : path, !temporary);
  HOSTIR_ASSIGN_OR_RETURN(out.writer, traces::TraceWriter::create(out.file->path(), run, options));
  HOSTIR_ASSIGN_OR_RETURN(out.reader, traces::open_log(out.file->path()));
  return out;
}

Expected<void> LoggedSession::start(std::shared_ptr<const interp::Prepared> prepared,
                                    interp::LiveOptions options, const std::string& log_path,
                                    std::string command_line, const traces::TraceOptions& trace) {
  prepared_ = std::move(prepared);
  command_line_ = std::move(command_line);
  trace_ = trace;
  traces::RunDescription run = traces::describe(*prepared_, options.backend);
  run.command_line = command_line_;
  run.started_ranks = options.ranks;
  HOSTIR_ASSIGN_OR_RETURN(log_, OpenLog::create(log_path, run, trace_));
  watch_ =
      std::make_unique<interp::ValueWatch>(log_.writer.get(), interp::ValueWatch::Forward::kValues);
  options.trace = watch_.get();
  options.log = log_.reader.get();
  interp::RecordedLine recorded = std::exchange(options.recorded, {});
  options_ = options;
  options.recorded = std::move(recorded);
  auto live = interp::LiveSession::create(prepared_, make_backend_, std::move(options));
  if (!live) return tl::unexpected(interp::in_given_text(live.error(), *prepared_->view));
  live_ = std::move(*live);
  watch_->attach(live_->interpreter());
  return publish();
}

void LoggedSession::show_recorded(std::unique_ptr<traces::LogReader> recorded, std::string path) {
  recorded_ = std::move(recorded);
  recorded_path_ = std::move(path);
  shows_recorded_ = true;
  follows_ = recorded_->run().ending == interp::LogEnding::kRunning;
  // A damaged log is shown up to the damage; `trace info --check` reports the error.
  loading_ = std::jthread(
      [log = recorded_.get()](const std::stop_token& stop) { traces::follow(*log, stop); });
}

Expected<void> LoggedSession::show_end() {
  followed_ = recorded_->extent().generation;
  HOSTIR_ASSIGN_OR_RETURN(interp::Snapshot end, traces::end_of(*recorded_, ""));
  end.from_log = true;
  end.program = live_->snapshot()->program;
  end.last_decision = live_->snapshot()->last_decision;
  if (follows_) {  // the log is longer than when the live session was made
    const auto length = traces::recorded_length(*recorded_, end.program->rank_count);
    if (length) end.last_decision = std::max(end.last_decision, length->decisions);
  }
  end.position.decision = end.last_decision;
  end_ = std::make_shared<const interp::Snapshot>(std::move(end));
  return {};
}

Expected<interp::FollowedLog> LoggedSession::follow() {
  if (!follows_ || next_now_.load() != nullptr) return interp::FollowedLog::kSame;
  follows_ = recorded_->ending() == interp::LogEnding::kRunning;
  if (!follows_) return interp::FollowedLog::kEnded;
  if (!end_ || recorded_->extent().generation == followed_) return interp::FollowedLog::kSame;
  const interp::SnapshotPtr before = end_;
  HOSTIR_TRY(show_end());
  end_ = with_choices_of(*before, *end_);
  return interp::FollowedLog::kNewer;
}

Expected<interp::Outcome> LoggedSession::execute(const interp::Command& command,
                                                 std::stop_token stop) {
  if (LoggedSession* next = next_now_) return next->execute(command, std::move(stop));
  if (end_) return execute_at_end(command, stop);
  switch (way_back(command)) {
    case Return::kNotNeeded:
      break;
    case Return::kAgain:
      return run_again(command, stop);
    case Return::kOnSimulator:
      return go_back_on_simulator(command, stop);
  }
  auto outcome = live_->execute(command, std::move(stop));
  if (live_->departed()) shows_recorded_ = false;
  if (outcome && outcome->ran) {
    tell_births(*outcome);
    HOSTIR_TRY(publish());
  }
  return outcome;
}

Expected<interp::ValueReading> LoggedSession::read(const interp::ValueQuery& query) {
  if (LoggedSession* next = next_now_) return next->read(query);
  if (end_) return not_run_yet();
  return live_->read(query);
}

Expected<interp::Inside> LoggedSession::inside(const interp::InsideQuery& query) {
  if (LoggedSession* next = next_now_) return next->inside(query);
  if (end_) return not_run_yet();
  return live_->inside(query);
}

Expected<std::vector<interp::PastValue>> LoggedSession::past_values(const interp::PastQuery& query,
                                                                    std::stop_token stop) const {
  if (LoggedSession* next = next_now_) return next->past_values(query, std::move(stop));
  return traces::replay_element(shows_recorded_ ? recorded_path_ : log_.file->path(), make_backend_,
                                query, std::move(stop));
}

Expected<void> LoggedSession::past_contents(const std::vector<interp::PastWrite>& writes,
                                            const interp::TakeContents& take,
                                            std::stop_token stop) const {
  if (LoggedSession* next = next_now_) return next->past_contents(writes, take, std::move(stop));
  return traces::replay_contents(shows_recorded_ ? recorded_path_ : log_.file->path(),
                                 make_backend_, writes, take, std::move(stop));
}

Expected<interp::WhatIf> LoggedSession::what_if(const interp::Snapshot& shot,
                                                const interp::WhatIfOptions& options) const {
  if (LoggedSession* next = next_now_) return next->what_if(shot, options);
  // Without `live_`: another thread may release it while the edits are tried.
  interp::WhatIfOptions with_claims = options;
  if (!with_claims.check_claims) with_claims.check_claims = options_.check_claims;
  return interp::what_if({prepared_, make_backend_, options_.backend}, shot, with_claims);
}

// A device cannot go back: decides how to execute a command that moves backwards.
LoggedSession::Return LoggedSession::way_back(const interp::Command& command) const {
  using K = interp::CommandKind;
  if (options_.backend.traits.models_time || live_->can_go_back()) return Return::kNotNeeded;
  const uint64_t position = live_->snapshot()->position.decision;
  if (position == 0) return Return::kNotNeeded;
  switch (command.kind) {
    case K::kReverseStep:
    case K::kReverseNext:
    case K::kReverseFinish:
    case K::kReverseUntil:
    case K::kReverseContinue:
      return Return::kOnSimulator;
    case K::kRun:
      return Return::kAgain;
    case K::kGoto:
      return static_cast<uint64_t>(command.numbers.front()) < position ? Return::kOnSimulator
                                                                       : Return::kNotNeeded;
    default:
      return Return::kNotNeeded;
  }
}

Expected<std::unique_ptr<LoggedSession>> LoggedSession::another_run(
    interp::LiveOptions options) const {
  auto out = std::make_unique<LoggedSession>(make_backend_);
  options.breakpoints.clear();
  HOSTIR_TRY(out->start(prepared_, std::move(options), {}, command_line_, trace_));
  out->live_->adopt(*live_);
  return out;
}

// From here on `next` is this session. Ends the run on the device and finishes its log.
void LoggedSession::give_way_to(std::unique_ptr<LoggedSession> next) {
  next_ = std::move(next);
  next_now_ = next_.get();
  live_.reset();
  watch_.reset();
  log_.writer.reset();
}

std::string LoggedSession::where_the_log_is() const {
  return log_.file->is_temporary() ? "" : fmt::format("; {} ends here", log_.file->path());
}

Expected<interp::Outcome> LoggedSession::run_again(const interp::Command& command,
                                                   const std::stop_token& stop) {
  HOSTIR_ASSIGN_OR_RETURN(auto again, another_run(options_));
  HOSTIR_ASSIGN_OR_RETURN(interp::Outcome out, again->execute(command, stop));
  out.text =
      fmt::format("A new run on {}{}.\n", options_.backend.name, where_the_log_is()) + out.text;
  give_way_to(std::move(again));
  return out;
}

Expected<interp::Outcome> LoggedSession::go_back_on_simulator(const interp::Command& command,
                                                              const std::stop_token& stop) {
  const uint64_t position = live_->snapshot()->position.decision;
  interp::LiveOptions options = options_;
  name_backend(options.backend, interp::BackendRequest{}.name);
  options.recorded = live_->history().taken();
  HOSTIR_ASSIGN_OR_RETURN(auto repeated, another_run(std::move(options)));
  if (command.kind != interp::CommandKind::kGoto) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::Command there,
                            interp::parse_command(fmt::format("goto {}", position)));
    HOSTIR_ASSIGN_OR_RETURN(const interp::Outcome arrived, repeated->execute(there, stop));
    const uint64_t reached = repeated->live_->snapshot()->position.decision;
    if (reached != position) {
      return fail(ErrorKind::kRuntime, "backend_no_checkpoint",
                  fmt::format("{} cannot go back, and {} repeats only {} of its {} decisions: {}",
                              options_.backend.name, repeated->options_.backend.name, reached,
                              position, arrived.stop.sentence));
    }
  }
  HOSTIR_ASSIGN_OR_RETURN(interp::Outcome out, repeated->execute(command, stop));
  out.text = fmt::format(
                 "{} cannot go back: from here on {} repeats the run from its inputs, and values "
                 "are recomputed{}.\n",
                 options_.backend.name, repeated->options_.backend.name, where_the_log_is()) +
             out.text;
  give_way_to(std::move(repeated));
  auto recorded = traces::open_log(log_.file->path());
  if (recorded) next_->show_recorded(std::move(*recorded), log_.file->path());
  return out;
}

// Executes a command while the session shows the end of the log. A command that moves makes the
// program run, first to this end unless the command names its target.
Expected<interp::Outcome> LoggedSession::execute_at_end(const interp::Command& command,
                                                        const std::stop_token& stop) {
  if (interp::only_looks(command.kind)) {
    interp::Outcome out;
    HOSTIR_ASSIGN_OR_RETURN(out.text, interp::answer(*this, command));
    return out;
  }
  if (!interp::needs_run(command.kind)) {
    HOSTIR_ASSIGN_OR_RETURN(interp::Outcome out, live_->execute(command, stop));
    end_ = with_choices_of(*live_->snapshot(), *end_);
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
    const bool told = contains(told_births_, line);
    if (told || line.position > position) continue;
    told_births_.push_back(line);
    outcome.logged.push_back(line);
  }
}

// Makes executed instructions visible in the log before it is queried.
Expected<void> LoggedSession::publish() {
  HOSTIR_TRY(log_.writer->flush());
  HOSTIR_TRY(log_.reader->refresh());
  return {};
}

}  // namespace hostir::api
