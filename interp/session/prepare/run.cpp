// A headless run: creates backend and interpreter, binds inputs, runs to the end, reads outputs.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "hostir/support/lists.h"
#include "interp/core/claims/partial_claims.h"
#include "interp/core/interpreter.h"
#include "interp/core/state.h"
#include "interp/session/answers/fault_names.h"
#include "interp/session/checks/result_replicas.h"
#include "interp/session/prepare/prepared_run.h"
#include "interp/session/prepare/repeated_run.h"
#include "interp/session/prepare/run_summary.h"
#include "interp/session/values/value_watch.h"

namespace hostir::interp {
namespace {

constexpr uint64_t kGiveUpSteps = 1 << 6;
constexpr std::chrono::milliseconds kProgressInterval(250);

Expected<void> run_watched(Interpreter& interpreter, const RunOptions& options) {
  // A step may run a kernel for seconds, so progress goes by the clock and not by steps.
  auto next = std::chrono::steady_clock::now() + kProgressInterval;
  for (;;) {
    const auto rank = interpreter.next_rank();
    if (!rank || !interpreter.step(*rank)) break;
    if (options.give_up && interpreter.position() % kGiveUpSteps == 0 && options.give_up())
      return fail(ErrorKind::kRuntime, "given_up", "the run was aborted");
    if (!options.progress || std::chrono::steady_clock::now() < next) continue;
    options.progress(interpreter.position());
    next = std::chrono::steady_clock::now() + kProgressInterval;
  }
  interpreter.conclude();
  return {};
}

Expected<void> add_local_parts(const Interpreter& interpreter, size_t result, bool keep,
                               NamedOutput& output) {
  for (Rank r = 0; r < interpreter.code().rank_count; ++r) {
    const auto buffer = interpreter.result(r, result);
    const bool known = buffer && buffer->placement;
    output.boxes.push_back(known ? buffer->placement->box : Box{});
    output.local.push_back(known ? buffer->placement->local() : Extents{});
    if (!keep) continue;
    Tensor& part = output.parts.emplace_back();
    if (!known) continue;
    HOSTIR_ASSIGN_OR_RETURN(part, interpreter.read_result(r, result, output.boxes.back()));
  }
  return {};
}

Tensor shape_of_result(const Interpreter& interpreter, size_t result, const Type& type) {
  Tensor out;
  out.dtype = dtype_of(type);
  for (Rank r = 0; r < interpreter.code().rank_count; ++r) {
    const auto buffer = interpreter.result(r, result);
    if (buffer && buffer->placement) out.extents = buffer->placement->global;
  }
  return out;
}

Expected<std::vector<NamedOutput>> outputs_of(const Interpreter& interpreter, bool keep_parts) {
  std::vector<NamedOutput> out;
  const Function& entry = *interpreter.code().functions.front();
  for (size_t i = 0; i < entry.results.size(); ++i) {
    NamedOutput output;
    output.name = entry.results[i].name;
    if (output.name.empty()) output.name = fmt::format("{}", i);
    output.type = entry.results[i].type;
    const bool values = interpreter.backend().capabilities().reads_values;
    HOSTIR_TRY(add_local_parts(interpreter, i, keep_parts && values, output));
    if (values) {
      HOSTIR_ASSIGN_OR_RETURN(output.global, interpreter.global_result(i));
    } else {
      output.global = shape_of_result(interpreter, i, output.type);
    }
    out.push_back(std::move(output));
  }
  return out;
}

bool holds(const Tensor& tensor, bool (*what)(double)) {
  if (!is_float(tensor.dtype)) return false;
  const int64_t count = static_cast<int64_t>(tensor.data.size()) / size_bytes(tensor.dtype);
  for (int64_t i = 0; i < count; ++i) {
    if (what(tensor.get_double(i))) return true;
  }
  return false;
}

bool is_nan(double v) { return std::isnan(v); }
bool is_infinite(double v) { return std::isinf(v); }

// True for faults that may cause differing values or NaNs, so that the instruction that wrote those
// need not be wrong.
bool spoils_values(const Fault& fault) {
  const std::string& kind = fault.record.kind;
  return is_race(kind) || (fault.severity == Severity::kError &&
                           (kind == "uninitialised_read" || kind == "use_after_free"));
}

// Explains differing replicas by a forgotten reduction, which the layouts of plain buffers cannot
// show.
void explain_by_sums(const Code& code, const std::vector<PlainSum>& sums, Fault& fault) {
  for (const PlainSum& sum : sums) {
    const auto is_named = [&](CodeIndex reader) {
      const std::vector<std::string>& named = fault.record.instructions;
      return contains(named, code.address(reader));
    };
    if (std::none_of(sum.readers.begin(), sum.readers.end(), is_named)) continue;
    fault.record.sentence += fmt::format("; it uses {} of {}, which was never reduced", sum.claim,
                                         code.address(sum.made));
    fault.record.notes.push_back(sum.made_by);
    fault.record.instructions.push_back(code.address(sum.made));
    fault.spans.resize(fault.record.notes.size() - 1);
    fault.spans.push_back(code.source(sum.made).span);
    return;
  }
}

// Warns about a result that was summed but not reduced. Each rank holds one addend; the output
// shows the first rank's, or the addend that all ranks were given.
void add_returned_sums(const Code& code, const std::vector<PlainSum>& sums, RunResult& result) {
  for (const PlainSum& sum : sums) {
    if (sum.returned == kNoCode && sum.given_to_all == kNoCode) continue;
    Fault fault;
    fault.fatal = false;
    fault.severity = Severity::kWarning;
    fault.record.kind = "unreduced_result";
    if (sum.given_to_all != kNoCode) {
      fault.record.sentence = fmt::format(
          "{} {} gives every rank the root's {}, which is {} that was never reduced; reduce it "
          "before",
          code.address(sum.given_to_all), record(code.instructions[sum.given_to_all].kind).mnemonic,
          sum.result, sum.claim);
    } else {
      fault.record.sentence = fmt::format(
          "{} return returns {}, which is {} that was never reduced, so the result is the first "
          "rank's addend; all_reduce it, or declare it as shard<...> with unreduced={{..}}",
          code.address(sum.returned), sum.result, sum.claim);
    }
    fault.record.instructions = {code.address(sum.made)};
    fault.record.notes = {sum.made_by};
    fault.spans = {code.source(sum.made).span};
    result.faults.push_back(std::move(fault));
  }
}

// Adds faults for contents that contradict their layouts, and for the first NaN and infinity. A NaN
// in the inputs has no origin in the program. An infinity may be a mask, so it is reported only in
// a result.
void add_findings(const Interpreter& interpreter, const ValueWatch& watch, const Prepared& prepared,
                  const std::vector<PlainSum>& sums, RunResult& result) {
  if (std::any_of(result.faults.begin(), result.faults.end(), spoils_values)) return;
  bool returned_differ = false;
  for (size_t i = 0; i < result.outputs.size(); ++i) {
    auto found = differing_result(interpreter, i);
    if (!found) continue;
    returned_differ = true;
    watch.explain(found->fault, found->first, found->second);
    explain_by_sums(interpreter.code(), sums, found->fault);
    result.faults.push_back(std::move(found->fault));
  }
  if (auto fault = watch.parting(); fault && !returned_differ) {
    explain_by_sums(interpreter.code(), sums, *fault);
    result.faults.push_back(std::move(*fault));
  }
  const auto given = [&](bool (*what)(double)) {
    return std::any_of(prepared.inputs.begin(), prepared.inputs.end(),
                       [&](const auto& input) { return holds(input.second, what); });
  };
  if (auto nan = watch.first_nan(); nan && !given(is_nan)) {
    result.faults.push_back(std::move(*nan));
    return;
  }
  const bool infinite =
      std::any_of(result.outputs.begin(), result.outputs.end(),
                  [&](const NamedOutput& output) { return holds(output.global, is_infinite); });
  if (auto infinity = watch.first_infinity(); infinity && infinite && !given(is_infinite))
    result.faults.push_back(std::move(*infinity));
}

}  // namespace

InterpreterOptions interpreter_options(const RunOptions& options, Rank ranks) {
  InterpreterOptions out;
  out.issue_ns = issue_ns(options.backend.machine);
  out.ranks = options.ranks;
  if (options.first_for_all) out.states = InterpreterOptions::States::kFirst;
  if (options.max_steps > 0) out.max_steps = options.max_steps;
  out.timeout_ns = options.backend.timeout_ns;
  out.max_memory_bytes = memory_limit_bytes(options.backend, ranks);
  return out;
}

int64_t issue_ns(const Machine& machine) {
  return std::max<int64_t>(1, std::llround(machine.issue_ns));
}

int64_t memory_limit_bytes(const BackendRequest& request, Rank ranks) {
  if (request.max_memory_bytes > 0) return request.max_memory_bytes;
  const double all = request.machine.memory_bytes * static_cast<double>(ranks);
  return all > 0 && all < 0x1p62 ? static_cast<int64_t>(all) : INT64_MAX;
}

const Fault* RunResult::worst() const {
  const Fault* found = nullptr;
  for (const Fault& f : faults) {
    if (f.fatal && f.severity == Severity::kError) return &f;
    if (!found && f.severity == Severity::kError) found = &f;
  }
  return found;
}

Expected<RunResult> run(const Prepared& prepared, const BackendFactory& make_backend,
                        const RunOptions& options) {
  HOSTIR_ASSIGN_OR_RETURN(const std::unique_ptr<Backend> backend, make_backend(options.backend));
  // Digests are cheap where the backend computes values itself. A device has to wait for each task,
  // so there they are taken only if values are read anyway or the caller asks.
  const Capabilities can = backend->capabilities();
  const bool logs_values = options.value_mode != Backend::ValueMode::kNone;
  const bool watches = options.summary == RunOptions::Summary::kCollectives && can.reads_values &&
                       (logs_values || options.watch_values || can.clock == ClockDomain::kVirtual);
  backend->set_value_mode(watches && !logs_values ? Backend::ValueMode::kDigest
                                                  : options.value_mode);
  RunSummary summary(*prepared.code, options.trace);
  TraceSink* sink = options.summary == RunOptions::Summary::kCollectives ? &summary : options.trace;
  ValueWatch watch(sink,
                   logs_values ? ValueWatch::Forward::kValues : ValueWatch::Forward::kNoValues);
  if (watches) sink = &watch;
  HOSTIR_ASSIGN_OR_RETURN(
      const std::unique_ptr<Interpreter> interpreter,
      Interpreter::create(prepared.code, *backend, sink,
                          interpreter_options(options, prepared.code->rank_count)));
  for (size_t i = 0; i < prepared.inputs.size(); ++i)
    HOSTIR_TRY(interpreter->bind(i, prepared.inputs[i].second));
  if (options.attach) options.attach(*interpreter);
  if (watches) watch.attach(*interpreter);

  RunEnd end = RunEnd::kFinished;
  if (options.progress || options.give_up)
    HOSTIR_TRY(run_watched(*interpreter, options));
  else
    end = interpreter->run();
  if (options.ended) options.ended(*interpreter);

  RunResult result;
  result.faults = interpreter->faults();
  result.steps = interpreter->position();
  result.collectives = summary.collectives();
  result.finished_ns = summary.finished_ns();
  const auto states = static_cast<Rank>(interpreter->state().ranks.size());
  for (Rank r = 0; r < states; ++r) result.peak_bytes.push_back(interpreter->peak_bytes(r));
  const Fault* worst = result.worst();
  interpreter->tell_peers();
  if (worst && worst->fatal) return result;
  if (end == RunEnd::kStuck) {
    return fail(ErrorKind::kStuck, "stuck", "the run cannot continue: ranks are frozen");
  }
  HOSTIR_TRY(interpreter->share_results(options.backend.timeout_ns));
  HOSTIR_ASSIGN_OR_RETURN(result.outputs, outputs_of(*interpreter, options.keep_parts));
  const std::vector<PlainSum> sums = plain_sums(*prepared.code);
  add_returned_sums(*prepared.code, sums, result);
  if (can.reads_values) add_findings(*interpreter, watch, prepared, sums, result);
  return result;
}

}  // namespace hostir::interp
