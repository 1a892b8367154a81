// The session on a thread of its own: commands in, snapshots and readings out.
//
// The window never waits for the engine. `SessionWorker` owns the session; everything it learns is
// put into an outbox that the window drains once per frame, and `wake` is called so that a sleeping
// window draws again. Threads: public functions are called by the window's thread only.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "gui/question_thread.h"
#include "gui/text_mark.h"
#include "interp/session/log_view.h"
#include "interp/session/session.h"
#include "interp/session/session_factory.h"

namespace hostir::gui {

enum class WorkerState : uint8_t { kEmpty, kOpening, kIdle, kRunning };

/// A session was opened, or could not be; then `error` is the rendered diagnostics.
struct Opened {
  interp::OpenRequest request;
  bool ok = false;
  bool cancelled = false;  // by `cancel_opening`; what was open stays
  std::string error;
  std::vector<TextMark> marks;  // of `error`, in the text that was opened
  std::string warning;          // what is wrong with it
  std::string notice;           // what opening decided by itself
};
/// What is being opened now, for whoever waits.
struct Opening {
  std::string path;
  std::string part;  // "lowering @mlp"
  double seconds = 0;
  bool cancelled = false;  // it ends as soon as the part does
};
/// A command was carried out.
struct Executed {
  std::string text;
  bool ok = false;
  std::string error;
  interp::Outcome outcome;
};
/// A value was read; `key` is what the asker gave.
struct Read {
  uint64_t key = 0;
  interp::Position position;
  std::shared_ptr<const interp::ValueReading> reading;
  std::string error;
};
/// A question to the log was answered; `deliver` hands the answer over on the window's thread.
struct LogAnswer {
  std::function<void()> deliver;
};
using WorkerResult = std::variant<Opened, Executed, Read, LogAnswer>;

class SessionWorker {
 public:
  SessionWorker(interp::SessionFactory& factory, std::function<void()> wake);
  ~SessionWorker();
  SessionWorker(const SessionWorker&) = delete;
  SessionWorker& operator=(const SessionWorker&) = delete;

  void open(interp::OpenRequest request);
  /// Ends the opening under way, and drops those that wait.
  void cancel_opening();
  std::optional<Opening> opening() const;
  void execute(std::string command);
  /// Reads are carried out newest first, between commands; one that waits under the same key is
  /// replaced.
  void read(uint64_t key, interp::ValueQuery query);
  /// Runs `question` on the session's thread, between commands and after reads; a newer question
  /// with the same name replaces one that has not begun. What it returns is done on the window's
  /// thread.
  using NowQuestion = std::function<std::function<void()>(interp::Session&)>;
  void ask_now(const std::string& name, NowQuestion question);
  /// Forgets reads that have not begun.
  void drop_reads(const std::vector<uint64_t>& keys);
  /// Runs `question` on the log's own thread; a newer question with the same name replaces one that
  /// has not begun and cancels one that has. It returns what is to be done with the answer on the
  /// window's thread.
  using Question = std::function<std::function<void()>(const interp::LogView&, std::stop_token)>;
  void ask_log(const std::string& name, Question question);
  /// The same for what goes through the whole log: piece by piece, other questions in between.
  using LogPieces = std::function<QuestionThread::Piece(const interp::LogView&, std::stop_token)>;
  void ask_log_in_pieces(const std::string& name, LogPieces pieces);
  /// The same for what takes seconds (running a log again): on another thread, so that the log goes
  /// on answering.
  using SlowQuestion =
      std::function<std::function<void()>(const interp::Session&, std::stop_token)>;
  void ask_session(const std::string& name, SlowQuestion question);
  void cancel_slow(const std::string& name) { slow_questions_.cancel(name); }
  bool slow_busy() const { return slow_questions_.busy(); }
  /// Asks the running command to stop at the next decision.
  void interrupt();

  WorkerState state() const;
  /// Something is queued, running, or waiting to be drained.
  bool busy() const;
  interp::SnapshotPtr snapshot() const;
  /// For whoever keeps the run beyond its closing: its log, and `past_contents`. May be null.
  std::shared_ptr<interp::Session> session() const;
  bool has_log() const;
  /// Of a large log that is being read in the background.
  interp::LogProgress log_progress() const;
  /// Everything that happened since the last call, in order.
  std::vector<WorkerResult> drain();

 private:
  struct Request;
  void session_loop(const std::stop_token& stop);
  void do_open(const interp::OpenRequest& request);
  void do_execute(const std::string& command);
  void do_read(uint64_t key, const interp::ValueQuery& query);
  void publish(WorkerResult result);

  struct PendingRead {
    uint64_t key;
    interp::ValueQuery query;
  };
  interp::SessionFactory& factory_;
  std::function<void()> wake_;
  mutable std::mutex mutex_;
  std::condition_variable_any session_wanted_;
  std::deque<std::variant<interp::OpenRequest, std::string>> requests_;
  std::vector<PendingRead> reads_;
  std::vector<std::pair<std::string, NowQuestion>> now_;  // oldest first
  std::vector<WorkerResult> outbox_;
  interp::SnapshotPtr snapshot_;
  WorkerState state_ = WorkerState::kEmpty;
  std::stop_source command_stop_;
  std::stop_source open_stop_;
  std::optional<Opening> opening_;
  std::chrono::steady_clock::time_point opening_since_;
  bool session_busy_ = false;
  // Replaced by the session thread, held by questions that run.
  std::shared_ptr<interp::Session> session_;
  QuestionThread log_questions_;
  QuestionThread slow_questions_;
  std::jthread session_thread_;
};

}  // namespace hostir::gui
