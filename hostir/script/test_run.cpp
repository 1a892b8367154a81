#include "hostir/script/test_run.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/io/generate.h"
#include "hostir/support/lists.h"

namespace hostir::script {
namespace {

using interp::NamedInput;

Expected<std::vector<NamedInput>> named_inputs(const RunStatement& statement,
                                               const Environment& environment,
                                               const RunContext& context) {
  // The verifier has checked that the function exists and takes this many values.
  const Function* f = context.program->find_function(statement.function);
  std::vector<NamedInput> out;
  for (size_t i = 0; i < statement.arguments.size(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(interp::InputValue value,
                            value_of(statement.arguments[i], environment, context.directory));
    out.push_back({f->value(f->params[i].value).name, std::move(value)});
  }
  return out;
}

Expected<Execution> execute_once(const RunRecord& run, const RunStatement& statement,
                                 uint64_t schedule, const RunContext& context) {
  const uint64_t used = steps_of(run);
  if (used >= context.steps_left) return tl::unexpected(steps_used(context));
  Execution out;
  out.schedule = schedule;
  std::vector<std::string> names = context.recorded;
  for (const std::string& value : context.recorded) {
    for (std::string& name : names_in_passes(run.prepared->loop_values, value))
      names.push_back(std::move(name));
  }
  const auto wanted = [names = std::move(names)](const Value& buffer) {
    return contains(names, buffer.name);
  };
  out.values = std::make_unique<interp::ValueRecorder>(wanted, nullptr);
  out.events = std::make_unique<EventRecorder>(out.values.get());
  interp::RunOptions options;
  options.backend = backend_request(context.options, *context.program, schedule, statement.seed);
  options.trace = out.events.get();
  if (context.watches_values) options.value_mode = interp::Backend::ValueMode::kDigest;
  options.keep_parts = computes_values(options.backend);
  if (context.options.max_steps > 0) options.max_steps = context.steps_left - used;
  for (const int64_t rank : statement.ranks)
    options.ranks.push_back(static_cast<interp::Rank>(rank));
  options.attach = [&out](interp::Interpreter& interpreter) { out.values->attach(interpreter); };
  HOSTIR_ASSIGN_OR_RETURN(out.result, interp::run(*run.prepared, context.make_backend, options));
  return out;
}

}  // namespace

bool computes_values(const interp::BackendRequest& backend) { return backend.traits.reads_values; }

Error steps_used(const RunContext& context) {
  return fail(ErrorKind::kRuntime, "max_steps",
              fmt::format("the test has used its {} host instructions", context.options.max_steps))
      .value();
}

uint64_t steps_of(const RunRecord& run) {
  uint64_t steps = 0;
  for (const Execution& e : run.executions) steps += std::max<uint64_t>(1, e.result.steps);
  return steps;
}

interp::BackendRequest backend_request(const TestOptions& options, const Program& program,
                                       uint64_t schedule, uint64_t seed) {
  interp::BackendRequest request = options.backend;
  // Tests that run at once in threads of one process must not all open NCCL communicators.
  if (request.devices.empty()) request.devices = {0};
  if (!program.machines.empty()) request.machine = program.machines.front();
  request.schedule = schedule;
  request.seed = seed;
  return request;
}

Expected<interp::InputValue> value_of(const ValueSpec& spec, const Environment& environment,
                                      const std::string& directory) {
  if (spec.kind == ValueSpec::Kind::kName) {
    const auto found = environment.find(spec.text);
    if (found != environment.end()) return found->second;
    return fail_at(ErrorKind::kInvalid, "test_value",
                   fmt::format("no value %{} has been bound before this line", spec.text),
                   spec.span);
  }
  if (spec.kind != ValueSpec::Kind::kInline && spec.kind != ValueSpec::Kind::kFile)
    return interp::InputValue(spec);
  HOSTIR_ASSIGN_OR_RETURN(Tensor tensor, io::materialise(spec, directory, nullptr, nullptr));
  return interp::InputValue(std::move(tensor));
}

Expected<RunRecord> execute_run(const RunStatement& statement, const Environment& environment,
                                const RunContext& context) {
  RunRecord run;
  run.statement = &statement;
  HOSTIR_ASSIGN_OR_RETURN(const auto inputs, named_inputs(statement, environment, context));
  interp::PrepareOptions options;
  options.function = statement.function;
  options.mesh_sizes = statement.mesh_sizes;
  options.keep = statement.keep;
  options.overlap = overlap_named(statement.overlap).value_or(Overlap::kNone);
  options.base_directory = context.directory;
  auto prepared = interp::prepare(*context.program, inputs, options);
  if (!prepared) {
    run.error = std::move(prepared.error());
    return run;
  }
  run.prepared = std::move(*prepared);
  const int64_t schedules = std::max(statement.schedules, context.options.schedules);
  for (int64_t k = 0; k < schedules; ++k) {
    auto execution = execute_once(run, statement, static_cast<uint64_t>(k), context);
    if (!execution) {
      run.error = std::move(execution.error());
      break;
    }
    run.executions.push_back(std::move(*execution));
  }
  return run;
}

}  // namespace hostir::script
