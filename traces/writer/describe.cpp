#include <fmt/core.h>

#include <algorithm>

#include "hostir/text/print/printer.h"
#include "interp/core/interpreter.h"
#include "interp/session/prepare/prepared_run.h"
#include "traces/writer/run_description.h"

namespace hostir::traces {
namespace {

/// The complete machine description, so that a log does not depend on this program's built-in
/// machines.
std::string machine_text(const Machine& machine) {
  if (machine.name.empty()) return {};
  Program program;
  program.add_machine(machine);
  return text::print(program);
}

std::vector<InputDescription> inputs_of(const interp::Prepared& prepared) {
  std::vector<InputDescription> inputs;
  for (const auto& [name, tensor] : prepared.inputs) {
    InputDescription input;
    input.name = name;
    input.tensor = tensor;
    for (const auto& [generated, expression] : prepared.input_texts) {
      if (generated != name) continue;
      input.kind = InputDescription::Kind::kGenerator;
      input.expression = expression;
    }
    inputs.push_back(std::move(input));
  }
  return inputs;
}

}  // namespace

RunDescription describe(const interp::Prepared& prepared, const interp::BackendRequest& backend) {
  RunDescription run;
  run.program = describe_program(*prepared.code);
  run.function = prepared.function;
  run.backend = backend.name;
  run.seed = backend.seed;
  run.schedule = backend.schedule;
  run.machine = backend.machine.name;
  run.machine_text = machine_text(backend.machine);
  run.virtual_time = backend.traits.clock == interp::ClockDomain::kVirtual;
  run.kernel_set = backend.traits.kernel_set;
  for (size_t i = 0; i < run.program.instructions.size(); ++i) {
    const interp::CodeInstruction& c = prepared.code->instructions[i];
    run.program.instructions[i].text =
        text::print_line(*prepared.code->functions[c.function], c.instr);
  }
  if (prepared.source != nullptr) run.source_text = text::print(*prepared.source);
  if (prepared.view != nullptr) {
    run.program_text = std::string(prepared.view->text());
    const std::vector<uint32_t>& lines = prepared.view->lines;
    for (size_t i = 0; i < run.program.instructions.size() && i < lines.size(); ++i)
      run.program.instructions[i].line = lines[i];
    run.phases = prepared.view->phases.texts();
    run.given = prepared.view->given;
  }
  for (const ExplainRecord& record : prepared.explanation) {
    run.explanations.push_back({record.value.empty() ? "@" + prepared.function : "%" + record.value,
                                record.pass, sentence(record), record.id});
  }
  run.held = interp::held_values(*prepared.code, prepared.value_names);
  run.inputs = inputs_of(prepared);
  run.properties.emplace_back("clock", interp::name(backend.traits.clock));
  run.properties.emplace_back("kernels", backend.reference_kernels ? "reference" : "fast");
  if (!backend.traits.reads_values) run.properties.emplace_back("values", "none");
  if (backend.max_memory_bytes > 0) {
    run.properties.emplace_back("max_memory_bytes", std::to_string(backend.max_memory_bytes));
  }
  return run;
}

std::vector<KernelDescription> describe_kernels(const interp::Interpreter& interpreter) {
  std::vector<KernelDescription> kernels;
  const interp::Code& code = interpreter.code();
  for (interp::CodeIndex index = 0; index < code.instructions.size(); ++index) {
    if (!code.source(index).attributes.has("kernel")) continue;
    for (interp::Rank rank = 0; rank < code.rank_count; ++rank) {
      const kernels::KernelWork work = interpreter.backend().kernel_work(index, rank);
      kernels.push_back({index, rank, interpreter.backend().describe(index, rank), work.flops,
                         work.read_bytes, work.write_bytes, work.limit_ns});
    }
  }
  return kernels;
}

}  // namespace hostir::traces
