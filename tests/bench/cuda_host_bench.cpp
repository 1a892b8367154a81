// The host's cost per launch on the cuda backend, and the backend's calls of the device, measured
// on a device that does nothing: the loop of tests/long/gpu_bench.py (two launches a pass), and
// layers as the compiler writes them (four ranks on a busy device; three launches, allocations and
// two streams).
//
//   cuda_host_bench [PASSES [ROUNDS [LOG [MODE]]]]
// Each round makes every measurement once; the minimum is printed. "run" is the CPU time of the
// thread that launches, "closed" the time until the log was complete, both per launch. A real
// driver call is not included.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include "hostir/text/parse/parser.h"
#include "interp/core/interpreter.h"
#include "interp/cuda/backend.h"
#include "tests/unit/device/timeline_device.h"
#include "traces/writer/trace_writer.h"

namespace {

using namespace hostir;
using Clock = std::chrono::steady_clock;

double thread_ns() {
  std::timespec t{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

std::string program_text(int passes) {
  return fmt::format(R"(mesh @m = <r=1>
kernel @up(%x: tensor<8x16xbf16>, %w: tensor<64x16xbf16>, %b: tensor<64xbf16>) -> (%y: tensor<8x64xbf16>) {{
  %h = linear %x, %w, %b
  %y = gelu %h {{approximate = tanh}}
  return %y
}}
kernel @down(%x: tensor<8x64xbf16>, %w: tensor<16x64xbf16>, %b: tensor<16xbf16>) -> (%y: tensor<8x16xbf16>) {{
  %y = linear %x, %w, %b
  return %y
}}
host @mlp on @m (%x: tensor<8x16xbf16>, %w1: tensor<64x16xbf16>, %b1: tensor<64xbf16>,
                 %w2: tensor<16x64xbf16>, %b2: tensor<16xbf16>) -> (%out: tensor<8x16xbf16>) {{
  %s = stream "compute"
  %g = alloc on %s : tensor<8x64xbf16>
  %y = alloc on %s : tensor<8x16xbf16>
  for %i in 0..{} {{
    launch @up ro(%x, %w1, %b1) wo(%g) on %s
    launch @down ro(%g, %w2, %b2) wo(%y) on %s
  }}
  free %g on %s
  return %y
}}
)",
                     passes);
}

std::string layers_text(int layers) {
  return fmt::format(R"(mesh @m = <r=4>
kernel @up(%x: tensor<8x16xbf16>, %w: tensor<64x16xbf16>) -> (%y: tensor<8x64xbf16>) {{
  %y = linear %x, %w
  return %y
}}
kernel @down(%x: tensor<8x64xbf16>, %w: tensor<16x64xbf16>) -> (%y: tensor<8x16xbf16>) {{
  %y = linear %x, %w
  return %y
}}
kernel @apart(%x: tensor<8x16xbf16>) -> (%y: tensor<8x16xbf16>) {{
  %y = neg %x
  return %y
}}
host @layers on @m (inout %x: tensor<8x16xbf16>, %w1: tensor<64x16xbf16>, %w2: tensor<16x64xbf16>) -> (%x: tensor<8x16xbf16>) {{
  %s = stream "compute"
  %n = stream "comm"
  for %i in 0..{} {{
    %g = alloc on %s : tensor<8x64xbf16>
    launch @up ro(%x, %w1) wo(%g) on %s
    %y = alloc on %s : tensor<8x16xbf16>
    %e = launch @down ro(%g, %w2) wo(%y) on %s
    free %g on %s
    wait %e on %n
    %z = alloc on %n : tensor<8x16xbf16>
    %f = launch @apart ro(%y) wo(%z) on %n
    free %y on %n
    free %z on %n
    wait %f on %s
  }}
  return %x
}}
)",
                     layers);
}

struct Workload {
  const char* name;
  std::string (*text)(int passes);
  double launches;    // of all ranks, per pass
  int64_t kernel_ns;  // 0: the device is always done
};
constexpr Workload kWorkloads[] = {{"a loop of two launches", program_text, 2, 0},
                                   {"layers on four ranks", layers_text, 12, 1'000}};

struct Mode {
  const char* name;
  bool logs;
  bool graphs;
  bool sampled;
};
constexpr Mode kModes[] = {
    {"no log", false, false, true},
    {"log", true, false, true},
    {"log, all measured", true, false, false},
    {"graphs, no log", false, true, true},
    {"graphs, log", true, true, true},
    {"graphs, log, all measured", true, true, false},
};

struct Figures {
  double run_ns = 1e18;
  double closed_ns = 1e18;
  cuda::Timeline line;
};

Expected<void> measure(const std::shared_ptr<const interp::Code>& code, const Workload& workload,
                       const Mode& mode, const std::string& log, Figures& figures) {
  cuda::Timeline line;
  for (const char* kernel : {"up", "down", "apart"}) line.kernel_ns[kernel] = workload.kernel_ns;
  line.keeps_runs = false;
  cuda::BackendOptions options;
  options.graphs = mode.graphs;
  options.sampled_times = mode.sampled;
  const auto backend = cuda::make_device_backend(options, [&](const cuda::RunClock& clock) {
    std::vector<std::unique_ptr<cuda::Device>> out;
    out.push_back(std::make_unique<cuda::TimelineDevice>(clock, line));
    return out;
  });
  traces::RunDescription description;
  description.program = traces::describe_program(*code);
  description.backend = "cuda";
  std::unique_ptr<traces::TraceWriter> writer;
  if (mode.logs) {
    HOSTIR_ASSIGN_OR_RETURN(writer, traces::TraceWriter::create(log, description));
  }
  HOSTIR_ASSIGN_OR_RETURN(const auto interpreter,
                          interp::Interpreter::create(code, *backend, writer.get(), {}));
  const Function& entry = *code->functions[0];
  for (size_t i = 0; i < entry.params.size(); ++i) {
    const Placement& placement =
        code->layouts[code->registers[code->parameters[i]].layout].by_rank[0];
    HOSTIR_TRY(interpreter->bind(i, Tensor::zeros(placement.dtype, placement.local())));
  }
  const auto begin = Clock::now();
  const double thread_begin_ns = thread_ns();
  interpreter->run();
  const double run_ns = thread_ns() - thread_begin_ns;
  if (writer != nullptr) HOSTIR_TRY(writer->close("ok"));
  const std::chrono::duration<double, std::nano> closed = Clock::now() - begin;
  writer = nullptr;
  if (mode.logs) std::filesystem::remove(log);
  figures.run_ns = std::min(figures.run_ns, run_ns);
  figures.closed_ns = std::min(figures.closed_ns, closed.count());
  figures.line = line;
  return {};
}

Expected<void> report(const Workload& workload, int passes, int rounds, const std::string& log,
                      const std::string& wanted) {
  HOSTIR_ASSIGN_OR_RETURN(Program program, text::parse_program(workload.text(passes)));
  HOSTIR_ASSIGN_OR_RETURN(
      const auto code,
      interp::compile_code(std::make_shared<const Program>(std::move(program)), {}));
  Figures figures[std::size(kModes)];
  for (int i = 0; i < rounds; ++i) {
    for (size_t m = 0; m < std::size(kModes); ++m) {
      if (!wanted.empty() && wanted != kModes[m].name) continue;
      HOSTIR_TRY(measure(code, workload, kModes[m], log, figures[m]));
    }
  }
  fmt::print("{:28} {:>8} {:>8} {:>9} {:>9} {:>9} {:>9}\n", workload.name, "run ns", "closed",
             "events", "queries", "times", "allocs");
  for (size_t m = 0; m < std::size(kModes); ++m) {
    const Figures& f = figures[m];
    if (f.run_ns == Figures().run_ns) continue;
    const double n = workload.launches * passes;
    const auto per = [&](int64_t count) { return static_cast<double>(count) / n; };
    fmt::print("{:28} {:8.0f} {:8.0f} {:9.4f} {:9.4f} {:9.4f} {:9.4f}\n", kModes[m].name,
               f.run_ns / n, f.closed_ns / n, per(f.line.events), per(f.line.queries),
               per(f.line.times), per(f.line.allocations));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int passes = argc > 1 ? std::max(1, std::atoi(argv[1])) : 50'000;
  const int rounds = argc > 2 ? std::max(1, std::atoi(argv[2])) : 5;
  const std::string log = argc > 3 ? argv[3] : "cuda_host_bench.db";
  for (const Workload& workload : kWorkloads) {
    const int few = static_cast<int>(2.0 / workload.launches * passes);
    if (const auto done = report(workload, few, rounds, log, argc > 4 ? argv[4] : ""); !done) {
      fmt::print(stderr, "{}\n", done.error().message());
      return 1;
    }
  }
  return 0;
}
