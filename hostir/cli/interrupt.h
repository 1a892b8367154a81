// Ctrl-C and SIGTERM stop what a verb is doing at a point where its log can be closed.
//
// In the debugger they stop the command; SIGTERM then ends the debugger too.
#pragma once

#include <stop_token>
#include <thread>

namespace hostir::cli {

/// While it lives, SIGINT and SIGTERM request a stop of `token()`; the handlers that were there
/// come back after. One at a time in a process, as signals are the process's.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// The signal that came, SIGINT or SIGTERM; 0: none.
  int signal() const;

 private:
  using Handler = void (*)(int);
  std::stop_source source_;
  Handler before_interrupt_ = nullptr;
  Handler before_terminate_ = nullptr;
  std::jthread watcher_;
};

}  // namespace hostir::cli
