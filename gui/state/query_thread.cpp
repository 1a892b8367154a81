#include "gui/state/query_thread.h"

#include <algorithm>
#include <utility>

namespace hostir::gui {

QueryThread::QueryThread(std::function<void(Answer)> deliver)
    : deliver_(std::move(deliver)), thread_([this](const std::stop_token& stop) { loop(stop); }) {}

QueryThread::~QueryThread() {
  cancel_all();
  thread_.request_stop();
}

void QueryThread::ask(const std::string& name, Work work) {
  ask_in_pieces(name, [work = std::move(work)](std::stop_token stop) {
    return Piece{work(std::move(stop)), false};
  });
}

void QueryThread::ask_in_pieces(const std::string& name, Pieces pieces) {
  const std::lock_guard lock(mutex_);
  if (running_ == name) running_stop_.request_stop();
  const auto same = std::find_if(queries_.begin(), queries_.end(),
                                 [&](const Query& q) { return q.name == name; });
  if (same != queries_.end()) {
    same->pieces = std::move(pieces);
  } else {
    queries_.push_back({name, std::move(pieces)});
  }
  wanted_.notify_one();
}

void QueryThread::cancel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (running_ == name) running_stop_.request_stop();
  std::erase_if(queries_, [&](const Query& q) { return q.name == name; });
}

void QueryThread::cancel_all() {
  const std::lock_guard lock(mutex_);
  running_stop_.request_stop();
  queries_.clear();
}

bool QueryThread::busy() const {
  const std::lock_guard lock(mutex_);
  return busy_ || !queries_.empty();
}

void QueryThread::loop(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    Query query;
    std::stop_token called_off;
    {
      std::unique_lock lock(mutex_);
      busy_ = false;
      running_.clear();
      if (!wanted_.wait(lock, stop, [this] { return !queries_.empty(); })) return;
      busy_ = true;
      query = std::move(queries_.front());
      queries_.pop_front();
      running_ = query.name;
      running_stop_ = std::stop_source();
      called_off = running_stop_.get_token();
    }
    Piece piece = query.pieces(called_off);
    if (piece.answer && !called_off.stop_requested()) deliver_(std::move(piece.answer));
    if (!piece.more) continue;
    // Check under the lock: a newer query with the same name may have cancelled this one.
    const std::lock_guard lock(mutex_);
    if (!called_off.stop_requested()) queries_.push_back(std::move(query));
  }
}

}  // namespace hostir::gui
