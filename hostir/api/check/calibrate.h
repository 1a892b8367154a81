// Measures a backend's kernels and describes the machine that they ran on.
//
// 1. Run matrix products and pointwise kernels of several sizes and dtypes, each in a loop
//    over operands that no cache holds, and take the median duration of a launch.
// 2. Fit launch_ns, the memory bandwidth, the FLOP/s per dtype and product_ramp_flops on some
//    sizes: the least sum of squared log(predicted / measured).
// 3. Predict the other sizes. Their error shows how accurate the description is.
// Links and collectives stay those of the starting machine.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/machine.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::api {

struct CalibrationPoint {
  std::string what;  // `linear 4096x4096x4096 bf16`
  DType dtype = DType::kF32;
  bool is_product = false;
  bool fitted = false;  // false: only predicted
  double flops = 0;
  double bytes = 0;
  double measured_ns = 0;
  double predicted_ns = 0;
};

struct Calibration {
  Machine machine;
  std::vector<CalibrationPoint> points;
  std::vector<std::string> not_measured;  // the kernel and the reason
};

struct CalibrationOptions {
  interp::BackendRequest backend;  // its machine is the starting point
  std::string name = "measured";   // of the machine
  int64_t largest = 8192;          // of the dimensions; the sizes go down from here
  int64_t launches = 20;           // per kernel; on a real device more, so that it is warm
};

/// Errors: those of the runs. What the backend cannot run is in `not_measured`.
Expected<Calibration> calibrate(const CalibrationOptions& options);

/// exp(mean |log(predicted / measured)|) - 1 over the points with this `fitted`.
double mean_error(const Calibration& calibration, bool fitted);

}  // namespace hostir::api
