// Questions that take long, answered one after the other on a thread of their own.
//
// A question has a name; a newer one of the same name replaces one that waits and calls off one
// that runs. Its answer is a function that is handed to `deliver`, unless it was called off. What
// takes long is asked in pieces: after each piece whatever waits has its turn. The public functions
// may be called from any thread; the last question ends with its thread.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace hostir::gui {

class QuestionThread {
 public:
  using Answer = std::function<void()>;
  using Work = std::function<Answer(std::stop_token)>;
  explicit QuestionThread(std::function<void(Answer)> deliver);
  ~QuestionThread();
  QuestionThread(const QuestionThread&) = delete;
  QuestionThread& operator=(const QuestionThread&) = delete;

  void ask(const std::string& name, Work work);
  /// What a piece of a long question found, and whether there is more to do.
  struct Piece {
    Answer answer;  // empty: nothing to show yet
    bool more = false;
  };
  /// Is called again, behind what waits by then, until there is no more or it is called off.
  using Pieces = std::function<Piece(std::stop_token)>;
  void ask_in_pieces(const std::string& name, Pieces pieces);
  void cancel(const std::string& name);
  /// Forgets what waits and calls off what runs.
  void cancel_all();
  bool busy() const;

 private:
  struct Question {
    std::string name;
    Pieces pieces;
  };
  void loop(const std::stop_token& stop);

  std::function<void(Answer)> deliver_;
  mutable std::mutex mutex_;
  std::condition_variable_any wanted_;
  std::deque<Question> questions_;
  std::string running_;
  std::stop_source running_stop_;
  bool busy_ = false;
  std::jthread thread_;
};

}  // namespace hostir::gui
