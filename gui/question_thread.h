// A thread that answers slow questions, one after another.
//
// A question has a name. A newer question with the same name replaces a waiting one and cancels a
// running one. The answer is a function that is passed to `deliver`, unless the question was
// cancelled. Long work is done in pieces, and waiting questions run between pieces. Public
// functions may be called from any thread; destruction ends the thread and the running question.
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
  /// The result of one piece of a long question.
  struct Piece {
    Answer answer;  // empty: nothing to show yet
    bool more = false;
  };
  /// Called repeatedly, after the questions waiting by then, until `more` is false or it is
  /// cancelled.
  using Pieces = std::function<Piece(std::stop_token)>;
  void ask_in_pieces(const std::string& name, Pieces pieces);
  void cancel(const std::string& name);
  /// Drops waiting questions and cancels the running one.
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
