// SIGTERM, SIGINT and SIGHUP end the window as closing it does, without a question: nobody may be
// there to answer it. What is not saved is kept for the next start.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace hostir::gui {

class EndSignals {
 public:
  /// Before any other thread is started, which would take the signals. `wake` is called on another
  /// thread when one came. A second one ends the process at once.
  explicit EndSignals(std::function<void()> wake);
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;
  ~EndSignals();

  bool came() const { return came_; }

 private:
  sigset_t before_{};
  std::atomic<bool> came_ = false;
  std::atomic<bool> over_ = false;
  std::thread waiter_;
};

}  // namespace hostir::gui
