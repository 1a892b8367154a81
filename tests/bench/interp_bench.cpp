// Cost of one host instruction: the TP MLP's host text on the null backend, with and without a log.
#include <fmt/core.h>

#include <chrono>

#include "hostir/text/parser.h"
#include "interp/core/interpreter.h"
#include "interp/null/null_backend.h"
#include "mlp_loop.h"

namespace {

using namespace hostir;

// Hears of everything and keeps nothing: what the interpreter itself spends on a log.
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

Expected<double> ns_per_instruction(int ranks, interp::TraceSink* sink) {
  HOSTIR_ASSIGN_OR_RETURN(
      Program program, text::parse_program(bench::mlp_loop(16, 32, ranks, 1'000'000 / 9 / ranks)));
  HOSTIR_ASSIGN_OR_RETURN(
      const auto code,
      interp::compile_code(std::make_shared<const Program>(std::move(program)), {}));
  interp::NullBackend backend;
  interp::InterpreterOptions options;
  options.issue_ns = 100;
  HOSTIR_ASSIGN_OR_RETURN(const auto interpreter,
                          interp::Interpreter::create(code, backend, sink, options));
  const auto begin = std::chrono::steady_clock::now();
  interpreter->run();
  const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - begin;
  return spent.count() / static_cast<double>(interpreter->position());
}

}  // namespace

int main() {
  for (const int ranks : {1, 8}) {
    CountingSink sink;
    const auto off = ns_per_instruction(ranks, nullptr);
    const auto on = ns_per_instruction(ranks, &sink);
    if (!off || !on) {
      fmt::print("{}\n", (off ? on : off).error().message());
      return 1;
    }
    fmt::print("{} ranks: {:.0f} ns an instruction, {:.0f} ns with a log that keeps nothing\n",
               ranks, *off, *on);
  }
  return 0;
}
