#include "gui/state/worker.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <set>

#include "interp/session/commands/command_table.h"

namespace hostir::gui {

namespace {

std::string rendered(const Error& error, const SourceManager& sources) {
  return render(error.diagnostics, sources);
}

}  // namespace

SessionWorker::SessionWorker(interp::SessionFactory& factory, std::function<void()> wake)
    : factory_(factory),
      wake_(std::move(wake)),
      log_queries_([this](std::function<void()> answer) { publish(LogAnswer{std::move(answer)}); }),
      slow_queries_(
          [this](std::function<void()> answer) { publish(LogAnswer{std::move(answer)}); }),
      session_thread_([this](const std::stop_token& stop) { session_loop(stop); }) {}

SessionWorker::~SessionWorker() {
  {
    const std::lock_guard lock(mutex_);
    command_stop_.request_stop();
    open_stop_.request_stop();
  }
  session_thread_.request_stop();
}

void SessionWorker::open(interp::OpenRequest request) {
  const std::lock_guard lock(mutex_);
  command_stop_.request_stop();
  open_stop_.request_stop();
  requests_.clear();
  requests_.emplace_back(std::move(request));
  session_wanted_.notify_one();
}

void SessionWorker::cancel_opening() {
  const std::lock_guard lock(mutex_);
  open_stop_.request_stop();
  if (opening_) opening_->cancelled = true;
  std::erase_if(requests_, [](const auto& request) {
    return std::holds_alternative<interp::OpenRequest>(request);
  });
}

std::optional<Opening> SessionWorker::opening() const {
  const std::lock_guard lock(mutex_);
  std::optional<Opening> now = opening_;
  if (now) {
    const auto waited = std::chrono::steady_clock::now() - opening_since_;
    now->seconds = std::chrono::duration<double>(waited).count();
  }
  return now;
}

std::optional<GotoProgress> SessionWorker::goto_progress() const {
  const std::lock_guard lock(mutex_);
  return goto_progress_;
}

void SessionWorker::execute(std::string command) {
  const std::lock_guard lock(mutex_);
  requests_.emplace_back(std::move(command));
  session_wanted_.notify_one();
}

void SessionWorker::read(uint64_t key, interp::ValueQuery query) {
  const std::lock_guard lock(mutex_);
  reads_.push_back({key, std::move(query)});
  session_wanted_.notify_one();
}

void SessionWorker::query_session(const std::string& name, SessionQuery query) {
  const std::lock_guard lock(mutex_);
  std::erase_if(now_, [&](const auto& waiting) { return waiting.first == name; });
  now_.emplace_back(name, std::move(query));
  session_wanted_.notify_one();
}

void SessionWorker::drop_reads(const std::vector<uint64_t>& keys) {
  if (keys.empty()) return;
  const std::set<uint64_t> dropped(keys.begin(), keys.end());
  const std::lock_guard lock(mutex_);
  std::erase_if(reads_, [&](const PendingRead& read) { return dropped.contains(read.key); });
}

std::shared_ptr<interp::Session> SessionWorker::session() const {
  const std::lock_guard lock(mutex_);
  return session_;
}

void SessionWorker::query_log(const std::string& name, LogQuery query) {
  log_queries_.ask(name,
                   [this, query = std::move(query)](std::stop_token stop) -> std::function<void()> {
                     const std::shared_ptr<interp::Session> held = session();
                     if (!held || !held->log()) return {};
                     return query(*held->log(), std::move(stop));
                   });
}

void SessionWorker::query_log_in_pieces(const std::string& name, LogPieces pieces) {
  log_queries_.ask_in_pieces(name, [this, pieces = std::move(pieces)](std::stop_token stop) {
    const std::shared_ptr<interp::Session> held = session();
    if (!held || !held->log()) return QueryThread::Piece{};
    return pieces(*held->log(), std::move(stop));
  });
}

void SessionWorker::query_in_background(const std::string& name, SlowQuery query) {
  slow_queries_.ask(
      name, [this, query = std::move(query)](std::stop_token stop) -> std::function<void()> {
        const std::shared_ptr<interp::Session> held = session();
        return held ? query(*held, std::move(stop)) : std::function<void()>();
      });
}

void SessionWorker::interrupt() {
  const std::lock_guard lock(mutex_);
  command_stop_.request_stop();
}

WorkerState SessionWorker::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

interp::LogProgress SessionWorker::log_progress() const {
  const std::lock_guard lock(mutex_);
  return session_ && session_->log() ? session_->log()->progress() : interp::LogProgress{};
}

interp::LogProgress SessionWorker::query_progress() const {
  const std::lock_guard lock(mutex_);
  return session_ && session_->log() ? session_->log()->query_progress() : interp::LogProgress{};
}

bool SessionWorker::busy() const {
  const std::lock_guard lock(mutex_);
  const bool reading = session_ && session_->log() && session_->log()->progress().reading;
  return reading || session_busy_ || log_queries_.busy() || slow_queries_.busy() ||
         !requests_.empty() || !reads_.empty() || !now_.empty() || !outbox_.empty();
}

interp::SnapshotPtr SessionWorker::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

bool SessionWorker::has_log() const {
  const std::lock_guard lock(mutex_);
  return session_ && session_->log() != nullptr;
}

bool SessionWorker::follows_log() const {
  const std::lock_guard lock(mutex_);
  return session_ && session_->log() && session_->log()->ending() == interp::LogEnding::kRunning;
}

uint64_t SessionWorker::followed_generation() const {
  if (!follows_log()) return 0;
  const std::lock_guard lock(mutex_);
  return session_ && session_->log() ? session_->log()->extent().generation : 0;
}

std::vector<WorkerResult> SessionWorker::drain() {
  const std::lock_guard lock(mutex_);
  return std::exchange(outbox_, {});
}

void SessionWorker::publish(WorkerResult result) {
  {
    const std::lock_guard lock(mutex_);
    outbox_.push_back(std::move(result));
  }
  wake_();
}

void SessionWorker::session_loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::variant<std::monostate, interp::OpenRequest, std::string, PendingRead, SessionQuery> work;
    {
      std::unique_lock lock(mutex_);
      session_busy_ = false;
      if (!session_wanted_.wait(lock, stop, [this] {
            return !requests_.empty() || !reads_.empty() || !now_.empty();
          }))
        return;
      session_busy_ = true;
      if (!requests_.empty()) {
        std::visit([&](auto& request) { work = std::move(request); }, requests_.front());
        requests_.pop_front();
        command_stop_ = std::stop_source();
        if (std::holds_alternative<interp::OpenRequest>(work)) open_stop_ = std::stop_source();
      } else if (!reads_.empty()) {
        work = std::move(reads_.back());
        reads_.pop_back();
      } else {
        work = std::move(now_.front().second);
        now_.erase(now_.begin());
      }
    }
    if (const auto* request = std::get_if<interp::OpenRequest>(&work)) do_open(*request);
    if (const auto* command = std::get_if<std::string>(&work)) do_execute(*command);
    if (const auto* read = std::get_if<PendingRead>(&work)) do_read(read->key, read->query);
    if (auto* query = std::get_if<SessionQuery>(&work)) {
      if (!session_) continue;
      LogAnswer answer{(*query)(*session_)};
      {
        const std::lock_guard lock(mutex_);
        snapshot_ = session_->snapshot();  // the session may have followed its log
      }
      publish(std::move(answer));
    }
  }
}

void SessionWorker::do_open(const interp::OpenRequest& request) {
  interp::PrepareProgress watch;
  {
    const std::lock_guard lock(mutex_);
    state_ = WorkerState::kOpening;
    opening_ = Opening{request.path, "", 0, false};
    opening_since_ = std::chrono::steady_clock::now();
    watch.stop = open_stop_.get_token();
  }
  watch.part = [this](std::string_view part) {
    {
      const std::lock_guard lock(mutex_);
      opening_->part = part;
    }
    wake_();
  };
  auto opened = factory_.open(request, watch);
  Opened result;
  result.request = request;
  result.cancelled = watch.stop.stop_requested();
  result.ok = opened.has_value() && !result.cancelled;
  if (result.ok) {
    result.notice = factory_.notice();
    result.warning = factory_.warning();
  }
  if (!opened && !result.cancelled) {
    result.error = rendered(opened.error(), factory_.sources());
    result.marks = marks_of(opened.error().diagnostics, factory_.sources());
  }
  std::shared_ptr<interp::Session> old;  // destroyed outside the lock, once queries release it
  {
    const std::lock_guard lock(mutex_);
    opening_.reset();
    if (result.ok) {
      // Requests to the old session are obsolete.
      log_queries_.cancel_all();
      slow_queries_.cancel_all();
      reads_.clear();
      now_.clear();
      old = std::exchange(session_, std::shared_ptr<interp::Session>(std::move(*opened)));
      snapshot_ = session_->snapshot();
    }
    state_ = session_ ? WorkerState::kIdle : WorkerState::kEmpty;
  }
  publish(std::move(result));
}

void SessionWorker::do_execute(const std::string& text) {
  Executed result;
  result.text = text;
  std::stop_token stop;
  {
    const std::lock_guard lock(mutex_);
    if (session_) state_ = WorkerState::kRunning;
    stop = command_stop_.get_token();
  }
  if (!session_) {
    result.error = "nothing is open: open a program or a log first";
    publish(std::move(result));
    return;
  }
  const auto command = interp::parse_command(text);
  if (!command) {
    result.error = command.error().message();
  } else {
    auto outcome = execute_in_parts(*command, stop);
    result.ok = outcome.has_value();
    if (outcome) {
      result.outcome = std::move(*outcome);
    } else {
      result.error = rendered(outcome.error(), factory_.sources());
    }
  }
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = session_->snapshot();
    state_ = WorkerState::kIdle;
    goto_progress_.reset();
  }
  publish(std::move(result));
}

Expected<interp::Outcome> SessionWorker::execute_in_parts(const interp::Command& command,
                                                          const std::stop_token& stop) {
  constexpr auto kPart = std::chrono::milliseconds(100);
  const interp::SnapshotPtr shot = session_->snapshot();
  const bool goes = command.kind == interp::CommandKind::kGoto;
  if (shot->from_log && !goes && interp::needs_run(command.kind) &&
      command.kind != interp::CommandKind::kRun) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::Command to_end, interp::parse_command("goto end"));
    HOSTIR_ASSIGN_OR_RETURN(interp::Outcome there, execute_in_parts(to_end, stop));
    if (stop.stop_requested()) return there;
    return session_->execute(command, stop);
  }
  if (!goes || !shot->no_stepping.empty()) return session_->execute(command, stop);
  const auto wanted = static_cast<uint64_t>(command.numbers.front());
  const bool end = command.numbers.front() == std::numeric_limits<int64_t>::max();
  const uint64_t at = shot->from_log ? 0 : shot->position.decision;
  GotoProgress progress{at, at, end ? shot->last_decision : wanted};
  interp::Command part = command;
  for (uint64_t length = 2048; progress.to > progress.at + length;) {
    const auto begin = std::chrono::steady_clock::now();
    part.numbers = {static_cast<int64_t>(progress.at + length)};
    HOSTIR_ASSIGN_OR_RETURN(interp::Outcome outcome, session_->execute(part, stop));
    const uint64_t reached = session_->snapshot()->position.decision;
    if (reached != progress.at + length) return outcome;  // a breakpoint, or the end of the run
    if (stop.stop_requested()) {
      outcome.stop.kind = interp::StopKind::kInterrupted;
      outcome.stop.sentence =
          fmt::format("Cancelled on the way to position {}, at {}.", progress.to, reached);
      return outcome;
    }
    progress.at = reached;
    if (std::chrono::steady_clock::now() - begin < kPart) length *= 2;
    {
      const std::lock_guard lock(mutex_);
      goto_progress_ = progress;
    }
    wake_();
  }
  return session_->execute(command, stop);
}

void SessionWorker::do_read(uint64_t key, const interp::ValueQuery& query) {
  if (!session_) return;
  Read result;
  result.key = key;
  result.position = session_->snapshot()->position;
  auto reading = session_->read(query);
  if (reading) {
    result.reading = std::make_shared<const interp::ValueReading>(std::move(*reading));
  } else {
    result.error = reading.error().message();
  }
  publish(std::move(result));
}

}  // namespace hostir::gui
