#include "gui/question_thread.h"

#include <algorithm>
#include <utility>

namespace hostir::gui {

QuestionThread::QuestionThread(std::function<void(Answer)> deliver)
    : deliver_(std::move(deliver)), thread_([this](const std::stop_token& stop) { loop(stop); }) {}

QuestionThread::~QuestionThread() {
  cancel_all();
  thread_.request_stop();
}

void QuestionThread::ask(const std::string& name, Work work) {
  ask_in_pieces(name, [work = std::move(work)](std::stop_token stop) {
    return Piece{work(std::move(stop)), false};
  });
}

void QuestionThread::ask_in_pieces(const std::string& name, Pieces pieces) {
  const std::lock_guard lock(mutex_);
  if (running_ == name) running_stop_.request_stop();
  const auto same = std::find_if(questions_.begin(), questions_.end(),
                                 [&](const Question& q) { return q.name == name; });
  if (same != questions_.end()) {
    same->pieces = std::move(pieces);
  } else {
    questions_.push_back({name, std::move(pieces)});
  }
  wanted_.notify_one();
}

void QuestionThread::cancel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (running_ == name) running_stop_.request_stop();
  std::erase_if(questions_, [&](const Question& q) { return q.name == name; });
}

void QuestionThread::cancel_all() {
  const std::lock_guard lock(mutex_);
  running_stop_.request_stop();
  questions_.clear();
}

bool QuestionThread::busy() const {
  const std::lock_guard lock(mutex_);
  return busy_ || !questions_.empty();
}

void QuestionThread::loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Question question;
    std::stop_token called_off;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      running_.clear();
      if (!wanted_.wait(lock, stop, [this] { return !questions_.empty(); })) return;
      busy_ = true;
      question = std::move(questions_.front());
      questions_.pop_front();
      running_ = question.name;
      running_stop_ = std::stop_source();
      called_off = running_stop_.get_token();
    }
    Piece piece = question.pieces(called_off);
    if (piece.answer && !called_off.stop_requested()) deliver_(std::move(piece.answer));
    if (!piece.more) continue;
    // Check under the lock: a newer question with the same name may have cancelled this one.
    const std::lock_guard lock(mutex_);
    if (!called_off.stop_requested()) questions_.push_back(std::move(question));
  }
}

}  // namespace hostir::gui
