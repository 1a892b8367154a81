#include "hostir/api/plan/plan_workers.h"

#include <algorithm>
#include <atomic>
#include <thread>

#include "hostir/support/usable_cores.h"

namespace hostir::api {

PlanWorkers::PlanWorkers(const PredictorOptions& options) {
  const int cores = usable_cores();
  for (int w = 0; w < cores; ++w)
    predictors_.push_back(std::make_unique<Predictor>(options, known_));
}

void PlanWorkers::for_each(size_t count, const std::function<void(Predictor&, size_t index)>& work,
                           const std::function<void(size_t)>& done) {
  std::atomic<size_t> next = 0;
  std::atomic<size_t> ended = 0;
  const auto run = [&](size_t worker) {
    for (size_t i = next++; i < count; i = next++) {
      work(*predictors_[worker], i);
      const size_t now = ++ended;
      if (worker == 0 && done) done(now);
    }
  };
  {
    std::vector<std::jthread> threads;
    for (size_t w = 1; w < std::min(predictors_.size(), count); ++w) threads.emplace_back(run, w);
    run(0);
  }
  if (done) done(count);
}

void PlanWorkers::forget_meshes() {
  for (const auto& predictor : predictors_) predictor->forget_meshes();
}

}  // namespace hostir::api
