// Runs the session on its own thread: commands in, snapshots and readings out.
//
// The window never waits for the engine. `SessionWorker` owns the session and puts all results into
// an outbox that the window drains once per frame; it calls `wake` so that a sleeping window
// redraws. Call the public functions only from the window's thread.
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

#include "gui/files/text_mark.h"
#include "gui/state/query_thread.h"
#include "interp/session/log/log_view.h"
#include "interp/session/session.h"
#include "interp/session/session_factory.h"

namespace hostir::gui {

enum class WorkerState : uint8_t { kEmpty, kOpening, kIdle, kRunning };

/// A `goto` that runs through many positions.
struct GotoProgress {
  uint64_t from = 0;
  uint64_t at = 0;
  uint64_t to = 0;
};

/// A session was opened, or opening failed and `error` has the rendered diagnostics.
struct Opened {
  interp::OpenRequest request;
  bool ok = false;
  bool cancelled = false;  // by `cancel_opening`; the previous session stays open
  std::string error;
  std::vector<TextMark> marks;  // of `error`, in the opened text
  std::string warning;          // a defect of what was opened, such as a truncated log
  std::string notice;           // a choice that opening made by default
};
/// The opening in progress, for display.
struct Opening {
  std::string path;
  std::string part;  // "lowering @mlp"
  double seconds = 0;
  bool cancelled = false;  // ends once the current part is done
};
/// The result of a command.
struct Executed {
  std::string text;
  bool ok = false;
  std::string error;
  interp::Outcome outcome;
};
/// The result of a read; `key` is the caller's.
struct Read {
  uint64_t key = 0;
  interp::Position position;
  std::shared_ptr<const interp::ValueReading> reading;
  std::string error;
};
/// The answer to a query about the log; `deliver` hands it over on the window's thread.
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
  /// Cancels the current opening and drops queued ones.
  void cancel_opening();
  std::optional<Opening> opening() const;
  /// The `goto` that is under way, if it is long; `interrupt` ends it at the current position.
  std::optional<GotoProgress> goto_progress() const;
  void execute(std::string command);
  /// Queues a read. Reads run newest first, between commands; a new read replaces a waiting one
  /// with the same key.
  void read(uint64_t key, interp::ValueQuery query);
  /// Runs `query` on the session's thread, between commands and after reads. A newer query
  /// with the same name replaces one that has not begun. The returned function runs on the window's
  /// thread.
  using SessionQuery = std::function<std::function<void()>(interp::Session&)>;
  void query_session(const std::string& name, SessionQuery query);
  /// Drops reads that have not begun.
  void drop_reads(const std::vector<uint64_t>& keys);
  /// Runs `query` on the log's own thread. A newer query with the same name replaces a
  /// waiting one and cancels a running one. The returned function runs on the window's thread.
  using LogQuery = std::function<std::function<void()>(const interp::LogView&, std::stop_token)>;
  void query_log(const std::string& name, LogQuery query);
  /// The same for queries that scan the whole log: runs in pieces, with other queries in
  /// between.
  using LogPieces = std::function<QueryThread::Piece(const interp::LogView&, std::stop_token)>;
  void query_log_in_pieces(const std::string& name, LogPieces pieces);
  /// The same for queries that take seconds (re-running a log): runs on another thread, so that
  /// the log keeps answering.
  using SlowQuery = std::function<std::function<void()>(const interp::Session&, std::stop_token)>;
  void query_in_background(const std::string& name, SlowQuery query);
  void cancel_slow(const std::string& name) { slow_queries_.cancel(name); }
  /// Asks the running command to stop at the next decision.
  void interrupt();

  WorkerState state() const;
  /// True if something is queued, running, or waiting to be drained.
  bool busy() const;
  interp::SnapshotPtr snapshot() const;
  /// The session, for callers that keep the run beyond its closing, with its log and
  /// `past_contents`. May be null.
  std::shared_ptr<interp::Session> session() const;
  bool has_log() const;
  /// True while another process writes the open log. It is read again and again.
  bool follows_log() const;
  /// Changes when more of a followed log was read; 0 if none is followed.
  uint64_t followed_generation() const;
  /// Progress of reading a large log in the background.
  interp::LogProgress log_progress() const;
  /// Progress of the SQL query that runs; `total` is 0 if it is unknown.
  interp::LogProgress query_progress() const;
  /// All results since the last call, in order.
  std::vector<WorkerResult> drain();

 private:
  struct Request;
  void session_loop(const std::stop_token& stop);
  void do_open(const interp::OpenRequest& request);
  void do_execute(const std::string& command);
  /// Goes to far positions in parts, so that progress is seen and `stop` is obeyed.
  Expected<interp::Outcome> execute_in_parts(const interp::Command& command,
                                             const std::stop_token& stop);
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
  std::vector<std::pair<std::string, SessionQuery>> now_;  // oldest first
  std::vector<WorkerResult> outbox_;
  interp::SnapshotPtr snapshot_;
  WorkerState state_ = WorkerState::kEmpty;
  std::stop_source command_stop_;
  std::stop_source open_stop_;
  std::optional<Opening> opening_;
  std::optional<GotoProgress> goto_progress_;
  std::chrono::steady_clock::time_point opening_since_;
  bool session_busy_ = false;
  // Replaced by the session thread; running queries hold a reference.
  std::shared_ptr<interp::Session> session_;
  QueryThread log_queries_;
  QueryThread slow_queries_;
  std::jthread session_thread_;
};

}  // namespace hostir::gui
