#include "hostir/cli/interrupt.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <mutex>

namespace hostir::cli {
namespace {

// A signal handler may only set a flag; a watcher thread turns it into a stop request.
volatile std::sig_atomic_t received = 0;

extern "C" void note_signal(int number) { received = number; }

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  before_interrupt_ = std::signal(SIGINT, note_signal);
  before_terminate_ = std::signal(SIGTERM, note_signal);
  watcher_ = std::jthread([this](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any wake;  // notified by `end`, so that short commands are not delayed
    std::unique_lock lock(mutex);
    while (!end.stop_requested()) {
      if (received != 0) source_.request_stop();
      wake.wait_for(lock, end, std::chrono::milliseconds(10), [] { return false; });
    }
  });
}

InterruptGuard::~InterruptGuard() {
  watcher_.request_stop();
  watcher_.join();
  if (before_interrupt_ != SIG_ERR) std::signal(SIGINT, before_interrupt_);
  if (before_terminate_ != SIG_ERR) std::signal(SIGTERM, before_terminate_);
}

int InterruptGuard::signal() const { return received; }

}  // namespace hostir::cli
