#include "traces/recorded/log_session.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "hostir/support/lists.h"
#include "interp/session/answers/answer.h"
#include "interp/session/commands/rank_selection.h"
#include "traces/recorded/log_snapshot.h"

namespace hostir::traces {

void follow(LogReader& log, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  constexpr Clock::duration kEvery = std::chrono::milliseconds(300);  // as a writer commits
  std::mutex mutex;
  std::condition_variable_any stopped;
  // After damage everything up to it is shown.
  while (true) {
    const Clock::time_point begin = Clock::now();
    if (!log.refresh(stop) || log.ending() != interp::LogEnding::kRunning) return;
    std::unique_lock lock(mutex);
    const Clock::duration wait = std::max(kEvery, 2 * (Clock::now() - begin));
    if (stopped.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); })) return;
  }
}

Expected<std::unique_ptr<LogSession>> LogSession::create(std::unique_ptr<LogReader> log,
                                                         std::string why) {
  HOSTIR_ASSIGN_OR_RETURN(interp::Snapshot shot, end_of(*log, std::move(why)));
  std::unique_ptr<LogSession> session(new LogSession());
  session->log_ = std::move(log);
  session->follows_ = session->log_->run().ending == interp::LogEnding::kRunning;
  session->snapshot_ = std::make_shared<const interp::Snapshot>(std::move(shot));
  // If reading fails, the session shows everything read so far.
  session->loading_ = std::jthread(
      [reader = session->log_.get()](std::stop_token stop) { traces::follow(*reader, stop); });
  return session;
}

Expected<interp::FollowedLog> LogSession::follow() {
  if (!follows_) return interp::FollowedLog::kSame;
  follows_ = log_->ending() == interp::LogEnding::kRunning;
  if (!follows_) return interp::FollowedLog::kEnded;
  const uint64_t generation = log_->extent().generation;
  if (std::exchange(followed_, generation) == generation) return interp::FollowedLog::kSame;
  HOSTIR_ASSIGN_OR_RETURN(interp::Snapshot shot, end_of(*log_, snapshot_->no_stepping));
  shot.focus = snapshot_->focus;
  snapshot_ = std::make_shared<const interp::Snapshot>(std::move(shot));
  return interp::FollowedLog::kNewer;
}

Expected<interp::Outcome> LogSession::execute(const interp::Command& command, std::stop_token) {
  interp::Outcome out;
  if (interp::only_looks(command.kind)) {
    HOSTIR_ASSIGN_OR_RETURN(out.text, interp::answer(*this, command));
    return out;
  }
  if (command.kind == interp::CommandKind::kQuit) {
    out.quit = true;
    return out;
  }
  if (command.kind != interp::CommandKind::kRank && command.kind != interp::CommandKind::kFocus) {
    return fail(ErrorKind::kRuntime, "no_stepping",
                "this log is read-only: " + snapshot_->no_stepping);
  }
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<interp::Rank> ranks,
                          interp::select_ranks(command.ranks, *snapshot_));
  auto shot = std::make_shared<interp::Snapshot>(*snapshot_);
  if (!contains(ranks, shot->focus)) shot->focus = ranks.front();
  out.text = fmt::format("The focus is rank {}.\n", shot->focus);
  snapshot_ = std::move(shot);
  return out;
}

Expected<interp::ValueReading> LogSession::read(const interp::ValueQuery& query) {
  return fail(
      ErrorKind::kRuntime, "no_contents",
      fmt::format("the contents of %{} are not known: the log cannot be run again", query.value));
}

Expected<std::vector<interp::PastValue>> LogSession::past_values(const interp::PastQuery&,
                                                                 std::stop_token) const {
  return fail(ErrorKind::kRuntime, "no_stepping",
              "the log cannot be run again: " + snapshot_->no_stepping);
}

}  // namespace hostir::traces
