#include "hostir/cli/interrupt.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>

namespace hostir::cli {
namespace {

// A signal handler may touch nothing else; a watching thread turns the flag into a stop request.
volatile std::sig_atomic_t interrupted = 0;

extern "C" void note_interrupt(int) { interrupted = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  interrupted = 0;
  before_ = std::signal(SIGINT, note_interrupt);
  watcher_ = std::jthread([this](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any wake;  // by `end`, so that a quick command is not held up
    std::unique_lock lock(mutex);
    while (!end.stop_requested()) {
      if (interrupted != 0) source_.request_stop();
      wake.wait_for(lock, end, std::chrono::milliseconds(10), [] { return false; });
    }
  });
}

InterruptGuard::~InterruptGuard() {
  watcher_.request_stop();
  watcher_.join();
  if (before_ != SIG_ERR) std::signal(SIGINT, before_);
}

}  // namespace hostir::cli
