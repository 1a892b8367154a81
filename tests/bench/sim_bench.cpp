// Whole runs in the simulator against the raw products that they contain.
//
//   OMP_NUM_THREADS=2 sim_bench [ROUNDS [LOG]]
// Runs the TP MLP's host text in a loop: host instructions of every rank, allocation, launches, the
// all_reduce, release, digests of every written value, a real log on disk. A *forward pass* is one
// iteration on all ranks. Weights do not move, so they are packed once, as for the raw products.
// Both sides alternate in one process; minimum and median of the rounds are printed.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hostir/support/float16.h"
#include "hostir/text/parse/parser.h"
#include "interp/core/interpreter.h"
#include "interp/null/null_backend.h"
#include "interp/session/prepare/prepared_run.h"
#include "interp/sim/sim_backend.h"
#include "mlp_loop.h"
#include "raw_matmul.h"
#include "traces/writer/trace_writer.h"

namespace {

using namespace hostir;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// As many threads as the library uses: OMP_NUM_THREADS.
int thread_count() {
  const char* text = std::getenv("OMP_NUM_THREADS");
  return text == nullptr ? 2 : std::max(1, std::atoi(text));
}

/// Varied elements in (-1/4, 1/4).
Tensor made_up(DType dtype, Extents extents) {
  Tensor out = Tensor::zeros(dtype, std::move(extents));
  const int64_t n = out.element_count();
  const auto bytes = static_cast<size_t>(size_bytes(dtype));
  uint32_t state = 7;
  for (int64_t i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    const float value = static_cast<float>(static_cast<int32_t>(state)) * 0x1p-33f;
    const uint16_t half = float_to_bf16(value);
    const void* from = dtype == DType::kBF16 ? static_cast<const void*>(&half) : &value;
    std::memcpy(out.data.data() + static_cast<size_t>(i) * bytes, from, bytes);
  }
  return out;
}

/// Hosts normally run ahead of their streams. With this wait, an iteration's work finishes within
/// it.
std::string with_host_waits(std::string loop) {
  const std::string last = "    yield %r\n";
  return loop.insert(loop.find(last), "    wait %r on host\n");
}

/// Returns a program with this many iterations.
using LoopText = std::function<std::string(int iterations)>;

Expected<uint64_t> decisions(const std::string& text) {
  HOSTIR_ASSIGN_OR_RETURN(Program program, text::parse_program(text));
  HOSTIR_ASSIGN_OR_RETURN(
      const auto code,
      interp::compile_code(std::make_shared<const Program>(std::move(program)), {}));
  interp::NullBackend backend;
  interp::InterpreterOptions options;
  options.issue_ns = 2000;
  HOSTIR_ASSIGN_OR_RETURN(const auto interpreter,
                          interp::Interpreter::create(code, backend, nullptr, options));
  interpreter->run();
  return interpreter->position();
}

/// A host function whose body is a loop, run one iteration on all ranks at a time.
class LoopRun {
 public:
  static Expected<std::unique_ptr<LoopRun>> create(const LoopText& text, int iterations,
                                                   const std::vector<interp::NamedInput>& inputs,
                                                   const std::string& log) {
    auto run = std::unique_ptr<LoopRun>(new LoopRun);
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t one, decisions(text(1)));
    HOSTIR_ASSIGN_OR_RETURN(const uint64_t two, decisions(text(2)));
    run->decisions_ = two - one;
    HOSTIR_ASSIGN_OR_RETURN(const Program program, text::parse_program(text(iterations)));
    HOSTIR_ASSIGN_OR_RETURN(run->prepared_, interp::prepare(program, inputs, {}));
    interp::BackendRequest request;
    request.machine = default_machine();
    sim::SimOptions simulator;
    simulator.threads = thread_count();
    run->backend_ = sim::make_sim_backend(simulator);
    run->backend_->set_value_mode(interp::Backend::ValueMode::kDigest);
    HOSTIR_ASSIGN_OR_RETURN(
        run->log_, traces::TraceWriter::create(log, traces::describe(*run->prepared_, request)));
    interp::InterpreterOptions options;
    options.issue_ns = interp::issue_ns(request.machine);
    HOSTIR_ASSIGN_OR_RETURN(run->interpreter_,
                            interp::Interpreter::create(run->prepared_->code, *run->backend_,
                                                        run->log_.get(), options));
    for (size_t i = 0; i < run->prepared_->inputs.size(); ++i) {
      HOSTIR_TRY(run->interpreter_->bind(i, run->prepared_->inputs[i].second));
    }
    return run;
  }

  void forward() {
    for (uint64_t i = 0; i < decisions_; ++i) {
      const auto rank = interpreter_->next_rank();
      if (!rank || !interpreter_->step(*rank)) break;
    }
  }
  /// Runs to the end and returns the first error.
  Expected<void> finish() {
    interpreter_->run();
    HOSTIR_TRY(log_->close());
    for (const interp::Fault& fault : interpreter_->faults()) {
      if (fault.severity == Severity::kError) return tl::unexpected(interp::to_error(fault));
    }
    return {};
  }

 private:
  LoopRun() = default;

  uint64_t decisions_ = 0;  // per iteration
  std::shared_ptr<const interp::Prepared> prepared_;
  std::unique_ptr<interp::Backend> backend_;
  std::unique_ptr<traces::TraceWriter> log_;
  std::unique_ptr<interp::Interpreter> interpreter_;
};

struct Times {
  std::vector<double> ms;
  void add(const std::function<void()>& work) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    ms.push_back(Milliseconds(std::chrono::steady_clock::now() - begin).count());
    std::sort(ms.begin(), ms.end());
  }
  double least() const { return ms.front(); }
  double median() const { return ms[ms.size() / 2]; }
};

struct Options {
  int rounds = 15;
  std::string log = "sim_bench.db";
};

Expected<void> mlp(const Options& options, int hidden, int rows, int tp, DType dtype) {
  const std::string type(name(dtype));
  const LoopText text = [&](int iterations) {
    return with_host_waits(bench::mlp_loop(rows, hidden, tp, iterations, type.c_str()));
  };
  const std::vector<interp::NamedInput> inputs = {{"x", made_up(dtype, {rows, hidden})},
                                                  {"w1", made_up(dtype, {hidden, 4 * hidden})},
                                                  {"w2", made_up(dtype, {4 * hidden, hidden})}};
  HOSTIR_ASSIGN_OR_RETURN(const auto run,
                          LoopRun::create(text, options.rounds + 3, inputs, options.log));
  const bool bf16 = dtype == DType::kBF16;
  const int features = 4 * hidden / tp;
  std::vector<std::unique_ptr<bench::RawMatmul>> raw;
  for (int rank = 0; rank < tp; ++rank) {
    raw.push_back(std::make_unique<bench::RawMatmul>(rows, features, hidden, bf16, true));
    raw.push_back(std::make_unique<bench::RawMatmul>(rows, hidden, features, bf16, false));
  }
  const auto products = [&] {
    for (const auto& product : raw) product->run();
  };
  run->forward();
  run->forward();
  products();
  Times ours;
  Times peer;
  for (int i = 0; i < options.rounds; ++i) {
    ours.add([&] { run->forward(); });
    peer.add(products);
  }
  HOSTIR_TRY(run->finish());
  fmt::print(
      "TP MLP tp={} hidden={} M={} {}: run {:.2f} ms (median {:.2f}), raw {:.2f} ({:.2f}), "
      "ratio {:.2f} ({:.2f})\n",
      tp, hidden, rows, type, ours.least(), ours.median(), peer.least(), peer.median(),
      ours.least() / peer.least(), ours.median() / peer.median());
  return {};
}

Expected<void> all_reduce(const Options& options, int ranks, int64_t bytes) {
  const int64_t elems = bytes / 4;
  const LoopText text = [&](int iterations) {
    const std::string type = fmt::format("shard<{}xf32, @m, [{{}}]>", elems);
    return fmt::format(
               "mesh @m = <r={}>\n"
               "host @f on @m (%x: shard<{}xf32, @m, [{{}}], unreduced={{r}}>) -> (%y: {}) {{\n",
               ranks, elems, type) +
           fmt::format(
               "  %c = comm over {{r}}\n  %s = stream \"comm\"\n"
               "  %y = alloc on %s : {}\n  for %i in 0..{} {{\n"
               "    %r = all_reduce sum %c ro(%x) wo(%y) on %s\n    wait %r on host\n  }}\n  "
               "return %y\n}}\n",
               type, iterations);
  };
  const std::vector<interp::NamedInput> inputs = {{"x", made_up(DType::kF32, {elems})}};
  const int rounds = 10 * options.rounds;
  HOSTIR_ASSIGN_OR_RETURN(const auto run, LoopRun::create(text, rounds + 3, inputs, options.log));
  run->forward();
  run->forward();
  Times ours;
  for (int i = 0; i < rounds; ++i) ours.add([&] { run->forward(); });
  HOSTIR_TRY(run->finish());
  fmt::print("all_reduce of {} KiB over {} ranks: {:.3f} ms (median {:.3f})\n", bytes / 1024, ranks,
             ours.least(), ours.median());
  return {};
}

Expected<void> measure(const Options& options) {
  HOSTIR_TRY(all_reduce(options, 8, int64_t{1} << 20));
  HOSTIR_TRY(mlp(options, 512, 64, 8, DType::kF32));
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const int rows : {128, 1024}) HOSTIR_TRY(mlp(options, 2048, rows, 4, dtype));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (argc > 1) options.rounds = std::max(1, std::atoi(argv[1]));
  if (argc > 2) options.log = argv[2];
  const auto done = measure(options);
  std::error_code ignored;
  std::filesystem::remove(options.log, ignored);
  if (!done) fmt::print("{}\n", done.error().message());
  return done ? 0 : 1;
}
