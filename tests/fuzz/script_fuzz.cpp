// Runs any bytes as a script: lowering, interpretation, expectations. Steps and memory are bounded.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "hostir/io/files.h"
#include "hostir/script/runner.h"
#include "interp/sim/sim_backend.h"
#include "large_mesh.h"
#include "scratch_file.h"

namespace {

hostir::Expected<std::unique_ptr<hostir::interp::Backend>> make_backend(
    const hostir::interp::BackendRequest& request) {
  hostir::sim::SimOptions options;
  options.machine = request.machine;
  options.seed = request.seed;
  options.schedule = request.schedule;
  options.kernels = hostir::cpu::KernelSet::kReference;
  options.threads = 1;
  return hostir::sim::make_sim_backend(options);
}

// A script may fail in any way, but what was accepted must print and reparse, and so must the
// compiler's output.
void check_texts(const hostir::script::TestReport& report) {
  for (const auto& test : report.cases) {
    if (test.title != "prints and reads back" || test.passed()) continue;
    std::fprintf(stderr, "%s\n", test.failures.front().c_str());
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hostir;
  if (fuzz::may_have_large_mesh(data, size)) return 0;
  static const std::string path = fuzz::scratch_file("script.hir");
  fuzz::write_scratch(path, data, size);
  script::TestOptions options;
  options.max_steps = 20000;
  options.backend.machine = default_machine();
  // A product of two matrices of this size takes a second with the sanitizers.
  options.backend.max_memory_bytes = int64_t{1} << 20;
  const auto report = script::run_tests({path}, options, make_backend);
  if (report) check_texts(*report);
  return 0;
}
