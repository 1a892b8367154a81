#include "hostir/cli/interrupt.h"

#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>

#include "hostir/support/temporary_file.h"

namespace hostir::cli {
namespace {

// A signal handler may only set a flag; a watcher thread turns it into a stop request.
volatile std::sig_atomic_t received = 0;
volatile std::sig_atomic_t times_received = 0;

extern "C" void note_signal(int number) {
  received = number;
  times_received = times_received + 1;
}

// A run stops only after its current kernel. If that takes longer than this after SIGTERM, or the
// user asks a third time, the process ends without closing its log. The log then opens up to its
// last transaction.
constexpr std::chrono::seconds kGrace(5);
constexpr int kInsistent = 3;

void end_now(int signal) {
  std::fputs("stopped during an instruction; a log ends before it\n", stderr);
  delete_temporary_files();
  std::_Exit(128 + signal);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  received = 0;
  times_received = 0;
  before_interrupt_ = std::signal(SIGINT, note_signal);
  before_terminate_ = std::signal(SIGTERM, note_signal);
  watcher_ = std::jthread([this](const std::stop_token& end) {
    std::mutex mutex;
    std::condition_variable_any wake;  // notified by `end`, so that short commands are not delayed
    std::unique_lock lock(mutex);
    std::optional<std::chrono::steady_clock::time_point> since;
    while (!end.stop_requested()) {
      if (received != 0) {
        source_.request_stop();
        const auto now = std::chrono::steady_clock::now();
        if (!since) since = now;
        const bool is_late = received == SIGTERM && now - *since > kGrace;
        if (is_late || times_received >= kInsistent) end_now(received);
      }
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
