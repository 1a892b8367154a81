#include "interp/core/interpreter.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/physical_memory.h"
#include "hostir/support/text.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp {

namespace {

// What the ranks' states hold before the first instruction; buffers and tasks come on top.
Expected<void> check_memory(const Code& code, const InterpreterOptions& options) {
  if (options.states == InterpreterOptions::States::kFirst) return {};
  const int64_t ranks = code.rank_count;
  const int64_t bytes_per_rank =
      static_cast<int64_t>(sizeof(RankState) + code.register_count * sizeof(Register));
  if (ranks <= physical_memory_bytes() / bytes_per_rank) return {};
  return fail(ErrorKind::kRuntime, "run_memory",
              fmt::format("{} ranks need at least {} each, which is more than the memory of this "
                          "computer, {}; run fewer ranks",
                          ranks, bytes_text(bytes_per_rank), bytes_text(physical_memory_bytes())));
}

}  // namespace

Interpreter::Interpreter(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Interpreter::~Interpreter() = default;

Expected<std::unique_ptr<Interpreter>> Interpreter::create(std::shared_ptr<const Code> code,
                                                           Backend& backend, TraceSink* sink,
                                                           const InterpreterOptions& options) {
  for (const Rank r : options.ranks) {
    if (r < 0 || r >= code->rank_count) {
      return fail(ErrorKind::kUsage, "step_rank",
                  fmt::format("rank {} is not in the world of {} ranks", r, code->rank_count));
    }
  }
  HOSTIR_TRY(check_memory(*code, options));
  HOSTIR_TRY(backend.prepare(*code));
  if (sink == nullptr) backend.set_times(Backend::Times::kCoarse);
  auto engine = std::make_unique<Engine>(std::move(code), backend, sink, options);
  engine->start();
  return std::unique_ptr<Interpreter>(new Interpreter(std::move(engine)));
}

Expected<StepResult> Interpreter::step(Rank rank) {
  if (rank < 0 || rank >= engine_->run.code->rank_count) {
    return fail(ErrorKind::kUsage, "step_rank",
                fmt::format("rank {} is not in the world of {} ranks", rank,
                            engine_->run.code->rank_count));
  }
  return engine_->step(rank);
}

std::optional<Rank> Interpreter::next_rank() const {
  const Rank rank = engine_->scheduler.next_rank();
  return rank == kNoRank ? std::nullopt : std::optional(rank);
}

bool Interpreter::can_step(Rank rank) const {
  return !engine_->run.state.failed && engine_->scheduler.can_run(rank);
}

void Interpreter::freeze(Rank rank) { engine_->freeze(rank, true); }
void Interpreter::thaw(Rank rank) { engine_->freeze(rank, false); }

RunEnd Interpreter::run() {
  if (engine_->scheduler.next_rank() == kNoRank) engine_->advance_until_runnable();
  for (Rank r = engine_->scheduler.next_rank(); r != kNoRank; r = engine_->upcoming)
    engine_->decide(r);
  const State& state = engine_->run.state;
  if (!finished() && !state.concluded && !state.failed) return RunEnd::kStuck;
  const auto& all = engine_->run.state.faults;
  const bool bad = std::any_of(all.begin(), all.end(),
                               [](const Fault& f) { return f.severity == Severity::kError; });
  return bad ? RunEnd::kFault : RunEnd::kFinished;
}

bool Interpreter::finished() const {
  const auto& ranks = engine_->run.state.ranks;
  return std::all_of(ranks.begin(), ranks.end(),
                     [](const RankState& r) { return is_over(r.status) && r.outstanding == 0; });
}

void Interpreter::conclude() {
  if (engine_->scheduler.next_rank() == kNoRank && !engine_->run.state.failed)
    engine_->advance_until_runnable();
}

Expected<OperandsNow> Interpreter::operands_now(Rank rank, CodeIndex code) {
  return engine_->operands_now(rank, code);
}

const Code& Interpreter::code() const { return *engine_->run.code; }
Backend& Interpreter::backend() const { return engine_->run.backend; }
uint64_t Interpreter::position() const { return engine_->run.state.position; }
const std::vector<Fault>& Interpreter::faults() const { return engine_->run.state.faults; }
const LoopPathTable& Interpreter::loop_paths() const { return engine_->run.paths; }
const State& Interpreter::state() const { return engine_->run.state; }
Engine& Interpreter::engine() { return *engine_; }
const Engine& Interpreter::engine() const { return *engine_; }
void Interpreter::set_logging(Logging logging) { engine_->run.logging = logging; }
void Interpreter::set_branch(uint32_t branch) { engine_->run.branch = branch; }

void Interpreter::restore(const State& state) {
  engine_->run.state = state;
  engine_->scheduler.refresh_all();
}

std::optional<CodeIndex> Interpreter::next_code(Rank rank) const {
  const RankState& r = engine_->run.state.ranks[static_cast<size_t>(rank)];
  if (is_over(r.status)) return std::nullopt;
  return r.pc;
}

}  // namespace hostir::interp
