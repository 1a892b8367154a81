// One prepared program run to its end several times on one backend: its steady state.
//
// create() compiles kernels and binds inputs, and the first run packs weights. Later runs start
// from the state after binding: a backend with checkpoints, or one that can restart, keeps
// everything else. Any other backend is made and bound anew, before the run's time starts.
// For benchmarks: no log, no values, no results. Use run() (engine.h) for those.
#pragma once

#include <memory>

#include "interp/core/interpreter.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::interp {

/// `options` as far as they apply to every run: backend, max_steps, ranks.
InterpreterOptions interpreter_options(const RunOptions& options, Rank ranks);

class RepeatedRun {
 public:
  /// `prepared` outlives the object. Errors: those of the backend and of binding.
  static Expected<std::unique_ptr<RepeatedRun>> create(const Prepared& prepared,
                                                       BackendFactory make_backend,
                                                       RunOptions options);
  ~RepeatedRun();

  /// Runs all ranks to the end. Returns the seconds from the first host instruction until every
  /// stream has drained. A fault of the program ends the run and is in interpreter().faults().
  Expected<double> run();

  const Interpreter& interpreter() const;
  /// The first run's time on the backend's clock, in ns; 0 before it.
  int64_t finished_ns() const;

 private:
  struct Impl;
  explicit RepeatedRun(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace hostir::interp
