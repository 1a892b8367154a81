// The search for small edits that let a program complete, in the background.
//
// The session does it (interp/session/what_if.h) on the thread of slow questions; here are its
// beginning, progress, end and answer. Panels read it; an answer stays until the next search, also
// when the run has moved on. One thread, but for the progress.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "gui/document.h"
#include "interp/session/what_if.h"

namespace hostir::gui {

class Model;

class WhatIfSearch {
 public:
  /// True where the run stands at a stop that can be asked about (`can_ask_what_if`).
  static bool possible(const Model& model);
  void start(Model& model);
  void cancel(Model& model);

  bool running() const { return state_ && state_->running; }
  interp::WhatIfProgress progress() const;
  /// Null before the first answer, and while a search runs.
  const interp::WhatIf* result() const { return state_ ? state_->result.get() : nullptr; }
  const std::string& error() const;
  /// The answer is about what is open now, at this stop.
  bool about_this(const Model& model) const;
  /// The program that it was asked about; empty: none was.
  const std::string& path() const;
  /// An edit, for the document of that program and no other.
  TextForDocument text_of(const interp::WhatIfTrial& trial) const;
  /// Another program is open: nothing was found out about it.
  void forget() { state_.reset(); }
  /// Counts searches.
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
  std::shared_ptr<State> state_;  // shared with the question that runs
  uint64_t number_ = 0;
};

}  // namespace hostir::gui
