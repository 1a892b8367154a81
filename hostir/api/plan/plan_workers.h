// Threads that predict candidates of a plan at the same time, one per core.
//
// Each has a predictor of its own, so they share no plan of a reshard; predictions for equal
// shardings are shared. What is predicted does not depend on the number of threads.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "hostir/api/plan/plan_prediction.h"

namespace hostir::api {

class PlanWorkers {
 public:
  explicit PlanWorkers(const PredictorOptions& options);

  /// For work of the calling thread.
  Predictor& own() { return *predictors_.front(); }
  /// Calls `work` for every index below `count`, on any thread. `done` is called on this thread
  /// from time to time, with the number of calls that have ended; may be empty.
  void for_each(size_t count, const std::function<void(Predictor&, size_t index)>& work,
                const std::function<void(size_t)>& done = {});
  /// Frees what is only useful on the meshes seen so far.
  void forget_meshes();

 private:
  KnownPredictions known_;
  std::vector<std::unique_ptr<Predictor>> predictors_;
};

}  // namespace hostir::api
