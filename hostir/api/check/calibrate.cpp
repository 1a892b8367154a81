#include "hostir/api/check/calibrate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hostir/api/open/backends.h"
#include "hostir/api/open/program_file.h"
#include "hostir/ops/kernel_time.h"
#include "hostir/support/lists.h"
#include "interp/core/forwarding_sink.h"
#include "interp/core/interpreter.h"

namespace hostir::api {

namespace {

constexpr std::array kProductDTypes = {DType::kBF16, DType::kF16, DType::kF32, DType::kF64};

/// One kernel, launched in a loop.
struct KernelCase {
  std::string what;
  DType dtype = DType::kF32;
  bool is_product = false;
  bool fitted = false;
  std::string text;
};

// Launches take turns on this much memory, so that their operands come from memory and not from a
// cache.
constexpr int64_t kTurnBytes = int64_t{192} << 20;
constexpr int64_t kMostTurns = 32;
constexpr int64_t kSmallBytes = int64_t{256} << 10;

struct Matrix {
  int64_t rows = 0;
  int64_t columns = 0;
};

// `sources`: the operands, filled with random numbers once; `op`: the kernel's, on %x0, %x1. Every
// launch in a turn has its own operands.
std::string program_text(const std::vector<Matrix>& sources, const Matrix& result, DType dtype,
                         const std::string& op, int64_t launches) {
  const auto type = [&](const Matrix& o) {
    return fmt::format("tensor<{}x{}x{}>", o.rows, o.columns, name(dtype));
  };
  int64_t bytes = result.rows * result.columns * size_bytes(dtype);
  for (const Matrix& o : sources) bytes += o.rows * o.columns * size_bytes(dtype);
  // With small operands, nearly all of the time is the launch.
  const int64_t turns =
      bytes < kSmallBytes ? 1 : std::clamp<int64_t>(kTurnBytes / bytes, 1, kMostTurns);
  std::string kernels;
  std::string parameters;
  for (size_t i = 0; i < sources.size(); ++i) {
    kernels += fmt::format(
        "kernel @fill{0}() -> (%y: {1}) {{\n  %y = uniform {{lo = -1.0, hi = 1.0, seed = {0}}} : "
        "{1}\n  return %y\n}}\n",
        i, type(sources[i]));
    parameters += fmt::format("{}%x{}: {}", i == 0 ? "" : ", ", i, type(sources[i]));
  }
  std::string before;
  std::string body;
  std::string end;
  for (int64_t t = 0; t < turns; ++t) {
    std::string operands;
    for (size_t i = 0; i < sources.size(); ++i) {
      const std::string x = fmt::format("%x{}_{}", t, i);
      before += fmt::format("  {0} = alloc on %s : {1}\n  launch @fill{2} wo({0}) on %s\n", x,
                            type(sources[i]), i);
      operands += (i == 0 ? "" : ", ") + x;
      end += fmt::format("  free {} on %s\n", x);
    }
    before += fmt::format("  %y{} = alloc on %s : {}\n", t, type(result));
    body += fmt::format("    launch @measured ro({}) wo(%y{}) on %s\n", operands, t);
    end += fmt::format("  free %y{} on %s\n", t);
  }
  return fmt::format(
      "mesh @m = <r=1>\n{}kernel @measured({}) -> (%y: {}) {{\n  %y = {}\n  return %y\n}}\n"
      "host @bench on @m () -> () {{\n  %s = stream \"s\"\n{}  for %i in 0..{} {{\n{}  }}\n"
      "{}  return\n}}\n",
      kernels, parameters, type(result), op, before, (launches + turns - 1) / turns, body, end);
}

// A GPU lowers its clock while a long series of products draws much power, as in a training step.
// So a kernel runs this long, by the starting machine, and the second half of its launches counts.
constexpr double kKernelNs = 50e6;
constexpr double kMostLaunches = 400;

int64_t launch_count(const CalibrationOptions& options, double flops, double bytes, DType dtype) {
  const Machine& machine = options.backend.machine;
  if (options.backend.traits.models_time) return options.launches;
  KernelTime time(machine);
  time.add(flops, dtype);
  const double expected_ns = std::max(1.0, time.expected_ns(bytes));
  return std::max(options.launches,
                  static_cast<int64_t>(std::min(kKernelNs / expected_ns, kMostLaunches)));
}

KernelCase pointwise_case(int64_t rows, int64_t columns, DType dtype, bool fitted,
                          const CalibrationOptions& options) {
  const Matrix all{rows, columns};
  const auto bytes = static_cast<double>(3 * rows * columns * size_bytes(dtype));
  return {
      fmt::format("add {}x{} {}", rows, columns, name(dtype)), dtype, false, fitted,
      program_text({all, all}, all, dtype, "add %x0, %x1", launch_count(options, 0, bytes, dtype))};
}

KernelCase product_case(int64_t m, int64_t n, int64_t k, DType dtype, bool fitted,
                        const CalibrationOptions& options) {
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n * k);
  const auto bytes = static_cast<double>((m * k + n * k + m * n) * size_bytes(dtype));
  return {fmt::format("linear {}x{}x{} {}", m, n, k, name(dtype)), dtype, true, fitted,
          program_text({{m, k}, {n, k}}, {m, n}, dtype, "linear %x0, %x1",
                       launch_count(options, flops, bytes, dtype))};
}

// Every second size is fitted, so that the others lie between them.
std::vector<KernelCase> kernel_cases(const CalibrationOptions& options) {
  const int64_t most = std::max<int64_t>(options.largest, 16);
  std::vector<KernelCase> out;
  bool fitted = true;
  for (const DType dtype : {DType::kBF16, DType::kF32}) {
    for (int64_t rows = most; rows >= most / 512 && rows > 0; rows /= 4, fitted = !fitted) {
      out.push_back(pointwise_case(rows, most, dtype, fitted, options));
    }
  }
  for (const DType dtype : kProductDTypes) {
    const int64_t largest = dtype == DType::kF64 ? most / 4 : most;
    fitted = true;
    for (int64_t n = largest; n > 0 && n >= largest / 8; n /= 2, fitted = !fitted) {
      out.push_back(product_case(n, n, n, dtype, fitted, options));
    }
    const int64_t few = std::max<int64_t>(largest / 64, 1);
    out.push_back(product_case(few, largest / 2, largest, dtype, true, options));
    out.push_back(product_case(few, largest, largest / 2, dtype, false, options));
    out.push_back(product_case(largest / 4, largest, largest / 2, dtype, false, options));
  }
  return out;
}

/// The durations of the launches inside the loop.
class LaunchTimes final : public interp::ForwardingSink {
 public:
  LaunchTimes() : ForwardingSink(nullptr) {}
  void issued(const interp::IssuedRecord& record) override {
    if (record.loop_path == 0 || record.task == interp::kNoTask) return;
    code_ = record.code;
    tasks_.push_back(record.task);
  }
  void finished(const interp::FinishedRecord& record) override {
    if (!contains(tasks_, record.task)) return;
    durations_.push_back(static_cast<double>(record.finished_ns - record.started_ns));
  }
  interp::CodeIndex code() const { return code_; }
  /// The median of the second half; 0 if nothing was launched.
  double median_ns() const {
    if (durations_.empty()) return 0;
    const auto half = static_cast<std::ptrdiff_t>(durations_.size() / 2);
    std::vector<double> sorted(durations_.begin() + half, durations_.end());
    std::sort(sorted.begin(), sorted.end());
    return std::max(1.0, sorted[sorted.size() / 2]);
  }

 private:
  interp::CodeIndex code_ = 0;
  std::vector<interp::TaskId> tasks_;
  std::vector<double> durations_;
};

Expected<CalibrationPoint> measure(const KernelCase& kernel, const CalibrationOptions& options) {
  const LoadedFile file = load_text(kernel.what, kernel.text);
  HOSTIR_ASSIGN_OR_RETURN(const ChosenFunction chosen, choose_function(file, "bench"));
  interp::PrepareOptions prepare;
  prepare.function = chosen.name;
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared, interp::prepare(*chosen.program, {}, prepare));
  CalibrationPoint point{kernel.what, kernel.dtype, kernel.is_product, kernel.fitted};
  LaunchTimes times;
  interp::RunOptions run;
  run.backend = options.backend;
  run.backend.kernel_times = true;  // short kernels would wait for the host between two events
  run.trace = &times;
  run.ended = [&](const interp::Interpreter& interpreter) {
    const kernels::KernelWork work = interpreter.backend().kernel_work(times.code(), 0);
    point.flops = work.flops;
    point.bytes = work.read_bytes + work.write_bytes;
  };
  HOSTIR_ASSIGN_OR_RETURN(const interp::RunResult result,
                          interp::run(*prepared, make_backend_factory(), run));
  if (const interp::Fault* fault = result.worst()) return tl::unexpected(interp::to_error(*fault));
  point.measured_ns = times.median_ns();
  return point;
}

double predicted_ns(const CalibrationPoint& point, const Machine& machine) {
  KernelTime time(machine);
  time.add(point.flops, point.is_product ? std::optional(point.dtype) : std::nullopt);
  return time.expected_ns(point.bytes) + machine.launch_ns;
}

double squared_error(const Calibration& c) {
  double sum = 0;
  for (const CalibrationPoint& point : c.points) {
    if (!point.fitted) continue;
    sum += std::pow(std::log(predicted_ns(point, c.machine) / point.measured_ns), 2);
  }
  return sum;
}

// Scales one number at a time, by ever smaller factors, while that lowers the error.
void fit(Calibration& c, const std::vector<double*>& numbers) {
  double best = squared_error(c);
  for (double factor = 4; factor > 1.00001; factor = std::sqrt(factor)) {
    for (bool better = true; better;) {
      better = false;
      for (double* number : numbers) {
        for (const double scale : {factor, 1 / factor}) {
          const double before = *number;
          *number = before * scale;
          const double error = squared_error(c);
          if (error < best * (1 - 1e-9)) {
            best = error;
            better = true;
          } else {
            *number = before;
          }
        }
      }
    }
  }
}

}  // namespace

Expected<Calibration> calibrate(const CalibrationOptions& options) {
  if (!options.backend.traits.reads_values) {
    return fail(ErrorKind::kUsage, "calibrate",
                fmt::format("the {} backend runs no kernels: there is nothing to measure",
                            options.backend.name));
  }
  Calibration out;
  out.machine = options.backend.machine;
  out.machine.name = options.name;
  out.machine.documentation.clear();
  std::vector<double*> numbers = {&out.machine.launch_ns, &out.machine.memory_bandwidth_bytes_per_s,
                                  &out.machine.product_ramp_flops};
  for (const KernelCase& kernel : kernel_cases(options)) {
    auto point = measure(kernel, options);
    if (!point && point.error().kind == ErrorKind::kUsage) return tl::unexpected(point.error());
    if (!point || point->measured_ns <= 0) {
      out.not_measured.push_back(kernel.what + ": " +
                                 (point ? "no launch was timed" : point.error().message()));
      continue;
    }
    out.points.push_back(std::move(*point));
  }
  if (out.points.empty()) {
    return fail(ErrorKind::kRuntime, "calibrate",
                "no kernel could be measured on this backend; " + out.not_measured.front());
  }
  // The fit starts from the best rates measured, as if the smallest product reached half of one.
  out.machine.launch_ns = out.points.front().measured_ns;
  out.machine.memory_bandwidth_bytes_per_s = 1;
  out.machine.flops_per_s = {};
  out.machine.product_ramp_flops = 0;
  for (const CalibrationPoint& point : out.points) {
    const double seconds = point.measured_ns * 1e-9;
    double& bandwidth = out.machine.memory_bandwidth_bytes_per_s;
    bandwidth = std::max(bandwidth, point.bytes / seconds);
    out.machine.launch_ns = std::min(out.machine.launch_ns, point.measured_ns);
    double& rate = out.machine.flops_per_s[static_cast<size_t>(point.dtype)];
    if (point.is_product) rate = std::max(rate, point.flops / seconds);
  }
  for (const CalibrationPoint& point : out.points) {
    if (!point.is_product) continue;
    double& ramp = out.machine.product_ramp_flops;
    ramp = ramp > 0 ? std::min(ramp, point.flops) : point.flops;
  }
  for (double& rate : out.machine.flops_per_s) {
    if (rate > 0) numbers.push_back(&rate);
  }
  fit(out, numbers);
  for (CalibrationPoint& point : out.points) point.predicted_ns = predicted_ns(point, out.machine);
  return out;
}

double mean_error(const Calibration& calibration, bool fitted) {
  double sum = 0;
  int count = 0;
  for (const CalibrationPoint& point : calibration.points) {
    if (point.fitted != fitted) continue;
    sum += std::fabs(std::log(point.predicted_ns / point.measured_ns));
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / count) - 1;
}

}  // namespace hostir::api
