// The cost of one host instruction: the TP MLP's host text on the null backend, without a log, with
// a sink that keeps nothing, and with a real log on disk.
//
//   interp_bench [ROUNDS [LOG]]
// Each round makes every measurement once, so that all see the same load; the minimum over the
// rounds is printed. "log" is the time of the run with the log's writer beside it, "closed" the
// time until the file was complete, and "processor" the CPU time of all threads until then.
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
#include "interp/null/null_backend.h"
#include "mlp_loop.h"
#include "traces/writer/trace_writer.h"

namespace {

using namespace hostir;
using Clock = std::chrono::steady_clock;

constexpr int kInstructions = 1'000'000;
constexpr int kInstructionsPerIteration = 9;

// Counts records and keeps nothing: measures what the interpreter itself spends on logging.
class CountingSink final : public interp::TraceSink {
 public:
  void issued(const interp::IssuedRecord&) override { ++records; }
  void finished(const interp::FinishedRecord&) override { ++records; }
  void value(const interp::ValueSummary&) override { ++records; }
  void decision(const interp::DecisionRecord&) override { ++records; }
  void fault(const interp::FaultRecord&) override { ++records; }
  void loop_path(interp::LoopPathId, interp::LoopPathId, interp::CodeIndex, int64_t) override {
    ++records;
  }
  uint64_t records = 0;
};

Expected<std::shared_ptr<const interp::Code>> loop_code(int ranks) {
  const int iterations = kInstructions / kInstructionsPerIteration / ranks;
  HOSTIR_ASSIGN_OR_RETURN(Program program,
                          text::parse_program(bench::mlp_loop(16, 32, ranks, iterations)));
  return interp::compile_code(std::make_shared<const Program>(std::move(program)), {});
}

/// Nanoseconds per instruction.
struct Figures {
  double off = 1e9;
  double counted = 1e9;
  double logged = 1e9;
  double closed = 1e9;
  double processor = 1e9;
};

void keep_least(double& least, double value) { least = std::min(least, value); }

Expected<double> run_once(const std::shared_ptr<const interp::Code>& code, interp::TraceSink* sink,
                          uint64_t& steps) {
  interp::NullBackend backend;
  interp::InterpreterOptions options;
  options.issue_ns = 100;
  HOSTIR_ASSIGN_OR_RETURN(const auto interpreter,
                          interp::Interpreter::create(code, backend, sink, options));
  const auto begin = Clock::now();
  interpreter->run();
  const std::chrono::duration<double, std::nano> spent = Clock::now() - begin;
  steps = interpreter->position();
  return spent.count() / static_cast<double>(steps);
}

Expected<void> measure(const std::shared_ptr<const interp::Code>& code, const std::string& log,
                       Figures& figures) {
  uint64_t steps = 0;
  HOSTIR_ASSIGN_OR_RETURN(const double off, run_once(code, nullptr, steps));
  keep_least(figures.off, off);
  CountingSink sink;
  HOSTIR_ASSIGN_OR_RETURN(const double counted, run_once(code, &sink, steps));
  keep_least(figures.counted, counted);

  traces::RunDescription description;
  description.program = traces::describe_program(*code);
  description.backend = "null";
  HOSTIR_ASSIGN_OR_RETURN(const auto writer, traces::TraceWriter::create(log, description));
  const std::clock_t processor = std::clock();
  const auto begin = Clock::now();
  HOSTIR_ASSIGN_OR_RETURN(const double logged, run_once(code, writer.get(), steps));
  HOSTIR_TRY(writer->close("ok"));
  const std::chrono::duration<double, std::nano> spent = Clock::now() - begin;
  const auto instructions = static_cast<double>(steps);
  keep_least(figures.logged, logged);
  keep_least(figures.closed, spent.count() / instructions);
  keep_least(figures.processor, static_cast<double>(std::clock() - processor) * 1e9 /
                                    static_cast<double>(CLOCKS_PER_SEC) / instructions);
  std::filesystem::remove(log);
  return {};
}

Expected<void> report(int ranks, int rounds, const std::string& log) {
  HOSTIR_ASSIGN_OR_RETURN(const auto code, loop_code(ranks));
  Figures f;
  for (int i = 0; i < rounds; ++i) HOSTIR_TRY(measure(code, log, f));
  fmt::print(
      "{} ranks, ns an instruction: no log {:.0f}, empty sink {:.0f}, log {:.0f}, closed {:.0f}, "
      "processor {:.0f}\n",
      ranks, f.off, f.counted, f.logged, f.closed, f.processor);
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 3;
  const std::string log = argc > 2 ? argv[2] : "interp_bench.db";
  for (const int ranks : {1, 8}) {
    if (const auto done = report(ranks, rounds, log); !done) {
      fmt::print(stderr, "{}\n", done.error().message());
      return 1;
    }
  }
  return 0;
}
