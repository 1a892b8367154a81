// Ctrl-C during a command stops the command, not the debugger.
#pragma once

#include <stop_token>
#include <thread>

namespace hostir::cli {

/// While it lives, SIGINT requests a stop of `token()`; the handler that was there comes back
/// after. One at a time in a process, as signals are the process's.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  using Handler = void (*)(int);
  std::stop_source source_;
  Handler before_ = nullptr;
  std::jthread watcher_;
};

}  // namespace hostir::cli
