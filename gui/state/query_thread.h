// A thread that answers slow queries, one after another.
//
// A query has a name. A newer query with the same name replaces a waiting one and cancels a
// running one. The answer is a function that is passed to `deliver`, unless the query was
// cancelled. Long work is done in pieces, and waiting queries run between pieces. Public
// functions may be called from any thread; destruction ends the thread and the running query.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace hostir::gui {

class QueryThread {
 public:
  using Answer = std::function<void()>;
  using Work = std::function<Answer(std::stop_token)>;
  explicit QueryThread(std::function<void(Answer)> deliver);
  ~QueryThread();
  QueryThread(const QueryThread&) = delete;
  QueryThread& operator=(const QueryThread&) = delete;

  void ask(const std::string& name, Work work);
  /// The result of one piece of a long query.
  struct Piece {
    Answer answer;  // empty: nothing to show yet
    bool more = false;
  };
  /// Called again until `more` is false or the query is cancelled; waiting queries run between
  /// calls.
  using Pieces = std::function<Piece(std::stop_token)>;
  void ask_in_pieces(const std::string& name, Pieces pieces);
  void cancel(const std::string& name);
  /// Drops waiting queries and cancels the running one.
  void cancel_all();
  bool busy() const;

 private:
  struct Query {
    std::string name;
    Pieces pieces;
  };
  void loop(const std::stop_token& stop);

  std::function<void(Answer)> deliver_;
  mutable std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::deque<Query> queries_;
  std::string running_;
  std::stop_source running_stop_;
  bool busy_ = false;
  std::jthread thread_;
};

}  // namespace hostir::gui
