// Prepares a log to be run again.

#include <fmt/core.h>

#include <charconv>

#include "hostir/io/files.h"
#include "hostir/io/generate.h"
#include "hostir/support/hash.h"
#include "hostir/text/parse/parser.h"
#include "traces/database/static_rows.h"
#include "traces/replay/replay.h"

namespace hostir::traces {
namespace {

int64_t number_property(const LogReader& log, std::string_view key) {
  const std::string text = log.run().property(key);
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Expected<Machine> machine_of(const LogReader& log) {
  const interp::LogRun& run = log.run();
  if (!run.machine_text.empty()) {
    HOSTIR_ASSIGN_OR_RETURN(const Program program, text::parse_program(run.machine_text));
    if (const Machine* machine = program.find_machine(run.machine)) return *machine;
  }
  if (const Machine* machine = find_builtin_machine(run.machine)) return *machine;
  return fail(ErrorKind::kRuntime, "replay_program",
              fmt::format("the log does not describe the machine \"{}\"", run.machine));
}

/// The dtype and extents of an input, without data.
Expected<Tensor> input_shape(const LogReader& log, size_t index) {
  HOSTIR_ASSIGN_OR_RETURN(
      const interp::LogTable row,
      log.query(
          fmt::format("SELECT dtype, shape FROM input ORDER BY id LIMIT 1 OFFSET {}", index)));
  const auto* dtype_name = row.rows.empty() ? nullptr : std::get_if<std::string>(&row.rows[0][0]);
  const auto* shape = row.rows.empty() ? nullptr : std::get_if<std::string>(&row.rows[0][1]);
  const auto dtype = dtype_name != nullptr ? parse_dtype(*dtype_name) : std::nullopt;
  if (!dtype || shape == nullptr) {
    return fail(ErrorKind::kRuntime, "log_damaged", "an input of the log is damaged");
  }
  HOSTIR_ASSIGN_OR_RETURN(Extents extents, parse_extents(*shape));
  return Tensor{*dtype, std::move(extents), {}};
}

/// Recreates an input that is not in the log, with its generator or from its file.
Expected<Tensor> input_again(const LogReader& log, size_t index) {
  const interp::LogInput& input = log.inputs()[index];
  HOSTIR_ASSIGN_OR_RETURN(const Tensor shape, input_shape(log, index));
  const auto count = element_count(shape.extents);
  if (!count || *count > (int64_t{1} << 36)) {
    return fail(ErrorKind::kRuntime, "log_damaged", "an input of the log is damaged");
  }
  const std::string text = input.kind == "file" ? "@" + input.expression : input.expression;
  HOSTIR_ASSIGN_OR_RETURN(const ValueSpec spec, io::parse_value_spec(text));
  HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, io::materialise(spec, "", &shape.dtype, &shape.extents));
  if (hash_of(tensor.data) != input.digest) {
    return fail(ErrorKind::kRuntime, "replay_input",
                fmt::format("input %{} has changed: {} now gives other data", input.name,
                            input.expression));
  }
  return tensor;
}

Expected<std::vector<Tensor>> inputs_of(const LogReader& log,
                                        const interp::PrepareProgress& watch) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < log.inputs().size(); ++i) {
    const interp::LogInput& input = log.inputs()[i];
    HOSTIR_TRY(watch.begin("reading the input %" + input.name));
    if (log.run().property("values") == "none") {
      HOSTIR_ASSIGN_OR_RETURN(Tensor shape, input_shape(log, i));
      inputs.push_back(std::move(shape));
      continue;
    }
    HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, recorded_input(log, i));
    inputs.push_back(std::move(tensor));
  }
  return inputs;
}

}  // namespace

Expected<Tensor> recorded_input(const LogReader& log, size_t index) {
  const interp::LogInput& input = log.inputs()[index];
  if (input.kind == "missing") {
    return fail(
        ErrorKind::kRuntime, "replay_input",
        fmt::format("input %{} was too large for the log (--trace-inputs-max)", input.name));
  }
  return input.kind == "data" ? log.input_data(index) : input_again(log, index);
}

Expected<RecordedRun> recorded_run(const LogReader& log, const interp::PrepareProgress& watch) {
  const interp::LogRun& run = log.run();
  if (log.tables().program.empty()) {
    return fail(ErrorKind::kRuntime, "replay_program", "the log does not hold the program");
  }
  RecordedRun recorded;
  HOSTIR_ASSIGN_OR_RETURN(Program program, text::parse_program(log.tables().program));
  recorded.program = std::make_shared<const Program>(std::move(program));
  interp::CodeOptions options;
  options.entry = run.entry;
  for (const auto& [name, value] : run.sizes) options.sizes.bind(name, value);
  HOSTIR_ASSIGN_OR_RETURN(recorded.code, interp::compile_code(recorded.program, options));
  HOSTIR_ASSIGN_OR_RETURN(recorded.backend.machine, machine_of(log));
  // Values measured on a device are recomputed on the simulator.
  if (run.virtual_time) recorded.backend.name = run.backend;
  recorded.backend.schedule = run.schedule;
  recorded.backend.seed = run.seed;
  recorded.backend.reference_kernels = log.run().property("kernels") == "reference";
  recorded.backend.max_memory_bytes = number_property(log, "max_memory_bytes");
  recorded.max_steps = static_cast<uint64_t>(number_property(log, "max_steps"));
  recorded.started_ranks = log.tables().started_ranks;
  HOSTIR_ASSIGN_OR_RETURN(recorded.inputs, inputs_of(log, watch));
  return recorded;
}

}  // namespace hostir::traces
