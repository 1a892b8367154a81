#include "gui/window/end_signals.h"

#include <cstdlib>
#include <utility>

namespace hostir::gui {

EndSignals::EndSignals(std::function<void()> wake) {
  sigset_t ends;
  sigemptyset(&ends);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ends, signal);
  pthread_sigmask(SIG_BLOCK, &ends, &before_);
  waiter_ = std::thread([this, ends, wake = std::move(wake)] {
    int signal = 0;
    while (sigwait(&ends, &signal) == 0 && !over_) {
      if (came_.exchange(true)) std::_Exit(128 + signal);
      wake();
    }
  });
}

EndSignals::~EndSignals() {
  over_ = true;
  pthread_kill(waiter_.native_handle(), SIGTERM);
  waiter_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace hostir::gui
