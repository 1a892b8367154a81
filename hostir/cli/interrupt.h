// Ctrl-C and SIGTERM stop a verb at a point where it can close its log.
//
// A run ends at once at the third signal, or if it has not stopped within seconds of SIGTERM. In
// the debugger, the signals stop the current command; SIGTERM then also ends the debugger.
#pragma once

#include <stop_token>
#include <thread>

namespace hostir::cli {

/// During its lifetime, SIGINT and SIGTERM request a stop of `token()`; the destructor restores the
/// previous handlers. Signals are per process, so only one guard may exist at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// The received signal, SIGINT or SIGTERM; 0 if none.
  int signal() const;

 private:
  using Handler = void (*)(int);
  std::stop_source source_;
  Handler before_interrupt_ = nullptr;
  Handler before_terminate_ = nullptr;
  std::jthread watcher_;
};

}  // namespace hostir::cli
