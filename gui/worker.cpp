#include "gui/worker.h"

#include <algorithm>

namespace hostir::gui {

namespace {

std::string rendered(const Error& error, const SourceManager& sources) {
  return render(error.diagnostics, sources);
}

}  // namespace

SessionWorker::SessionWorker(interp::SessionFactory& factory, std::function<void()> wake)
    : factory_(factory),
      wake_(std::move(wake)),
      session_thread_([this](const std::stop_token& stop) { session_loop(stop); }),
      log_thread_([this](const std::stop_token& stop) { log_loop(stop); }) {}

SessionWorker::~SessionWorker() {
  {
    const std::lock_guard lock(mutex_);
    command_stop_.request_stop();
    question_stop_.request_stop();
  }
  session_thread_.request_stop();
  log_thread_.request_stop();
}

void SessionWorker::open(interp::OpenRequest request) {
  const std::lock_guard lock(mutex_);
  command_stop_.request_stop();
  question_stop_.request_stop();
  requests_.clear();
  reads_.clear();
  questions_.clear();
  requests_.emplace_back(std::move(request));
  session_wanted_.notify_one();
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

void SessionWorker::drop_reads() {
  const std::lock_guard lock(mutex_);
  reads_.clear();
}

void SessionWorker::ask_log(const std::string& name, Question question) {
  const std::lock_guard lock(mutex_);
  if (running_question_ == name) question_stop_.request_stop();
  const auto same = std::find_if(questions_.begin(), questions_.end(),
                                 [&](const PendingQuestion& q) { return q.name == name; });
  if (same != questions_.end()) {
    same->question = std::move(question);
  } else {
    questions_.push_back({name, std::move(question)});
  }
  log_wanted_.notify_one();
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

bool SessionWorker::busy() const {
  const std::lock_guard lock(mutex_);
  const bool reading = session_ && session_->log() && session_->log()->progress().reading;
  return reading || session_busy_ || log_busy_ || !requests_.empty() || !reads_.empty() ||
         !questions_.empty() || !outbox_.empty();
}

interp::SnapshotPtr SessionWorker::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

bool SessionWorker::has_log() const {
  const std::lock_guard lock(mutex_);
  return session_ && session_->log() != nullptr;
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
    std::variant<std::monostate, interp::OpenRequest, std::string, PendingRead> work;
    {
      std::unique_lock lock(mutex_);
      session_busy_ = false;
      if (!session_wanted_.wait(lock, stop,
                                [this] { return !requests_.empty() || !reads_.empty(); }))
        return;
      session_busy_ = true;
      if (!requests_.empty()) {
        std::visit([&](auto& request) { work = std::move(request); }, requests_.front());
        requests_.pop_front();
        command_stop_ = std::stop_source();
      } else {
        work = std::move(reads_.back());
        reads_.pop_back();
      }
    }
    if (const auto* request = std::get_if<interp::OpenRequest>(&work)) do_open(*request);
    if (const auto* command = std::get_if<std::string>(&work)) do_execute(*command);
    if (const auto* read = std::get_if<PendingRead>(&work)) do_read(read->key, read->query);
  }
}

void SessionWorker::do_open(const interp::OpenRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    state_ = WorkerState::kOpening;
  }
  auto opened = factory_.open(request);
  Opened result;
  result.request = request;
  result.ok = opened.has_value();
  if (opened) result.notice = factory_.notice();
  if (!opened) {
    result.error = rendered(opened.error(), factory_.sources());
    result.diagnostics = opened.error().diagnostics;
  }
  std::shared_ptr<interp::Session>
      old;  // dies outside of the lock, when the log thread lets go of it
  {
    const std::lock_guard lock(mutex_);
    if (opened) {
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
    auto outcome = session_->execute(*command, stop);
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
  }
  publish(std::move(result));
}

void SessionWorker::do_read(uint64_t key, const interp::ValueQuery& query) {
  if (!session_) return;
  Read result;
  result.key = key;
  result.position = session_->snapshot()->position;
  auto reading = session_->read(query);
  if (reading) {
    result.reading = std::move(*reading);
  } else {
    result.error = reading.error().message();
  }
  publish(std::move(result));
}

void SessionWorker::log_loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    PendingQuestion work;
    std::shared_ptr<interp::Session> session;
    std::stop_token question_stop;
    {
      std::unique_lock lock(mutex_);
      log_busy_ = false;
      running_question_.clear();
      if (!log_wanted_.wait(lock, stop, [this] { return !questions_.empty(); })) return;
      log_busy_ = true;
      work = std::move(questions_.front());
      questions_.pop_front();
      running_question_ = work.name;
      session = session_;
      question_stop_ = std::stop_source();
      question_stop = question_stop_.get_token();
    }
    if (!session || !session->log()) continue;
    auto deliver = work.question(*session->log(), question_stop);
    if (deliver && !question_stop.stop_requested()) publish(LogAnswer{std::move(deliver)});
  }
}

}  // namespace hostir::gui
