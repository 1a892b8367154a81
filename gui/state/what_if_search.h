// The background search for small edits that let a program complete.
//
// The session does the search (interp/session/what_if/what_if.h) on the thread of slow queries;
// this class starts it, tracks progress, cancels it and keeps the answer. The answer stays until
// the next search, even if the run moves on. Single-threaded, except for the progress counters.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "gui/files/document.h"
#include "interp/session/what_if/what_if.h"

namespace hostir::gui {

class Model;

class WhatIfSearch {
 public:
  /// True if the run is at a stop that a search can explain (`can_ask_what_if`).
  static bool possible(const Model& model);
  void start(Model& model);
  void cancel(Model& model);

  bool running() const { return state_ && state_->running; }
  interp::WhatIfProgress progress() const;
  /// Null before the first answer and while a search runs.
  const interp::WhatIf* result() const { return state_ ? state_->result.get() : nullptr; }
  const std::string& error() const;
  /// True if the answer is about what is open now, at this stop.
  bool about_this(const Model& model) const;
  /// Path of the program that was searched; empty if there was no search.
  const std::string& path() const;
  /// An edit as a text for that program's document.
  TextForDocument text_of(const interp::WhatIfTrial& trial) const;
  /// Drops the answer because another program is open.
  void forget() { state_.reset(); }
  /// Number of searches so far.
  uint64_t number() const { return number_; }

 private:
  struct State {
    bool running = true;
    interp::SnapshotPtr shot;
    uint64_t opened = 0;
    std::string path;
    std::string base;  // the text that was opened
    std::atomic<size_t> tried = 0;
    std::atomic<size_t> proposed = 0;
    std::atomic<size_t> completes = 0;
    std::unique_ptr<interp::WhatIf> result;
    std::string error;
  };
  std::shared_ptr<State> state_;  // shared with the running query
  uint64_t number_ = 0;
};

}  // namespace hostir::gui
