// SIGTERM, SIGINT and SIGHUP close the window without asking, since no user may be there to answer.
// Unsaved text is kept for the next start.
#pragma once

#include <atomic>
#include <csignal>
#include <functional>
#include <thread>

namespace hostir::gui {

class EndSignals {
 public:
  /// Construct before starting any other thread, which would otherwise receive the signals. `wake`
  /// is called on another thread when a signal arrives. A second signal ends the process at once.
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
