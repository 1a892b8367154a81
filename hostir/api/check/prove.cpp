#include "hostir/api/check/prove.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "hostir/api/check/example_runs.h"
#include "hostir/api/check/proof_comparison.h"
#include "hostir/ir/inline_value.h"
#include "hostir/ops/record.h"
#include "hostir/passes/prepare/bind_sizes.h"
#include "hostir/passes/prepare/unshard.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "interp/core/interpreter.h"
#include "interp/sim/proof/prover.h"
#include "interp/sim/sim_backend.h"

namespace hostir::api {

namespace {

using interp::Prepared;
using interp::Rank;
using sim::proof::Algebra;
using sim::proof::Prover;
using sim::proof::State;
using sim::proof::StateId;
using sim::proof::Token;
using sim::proof::Tokens;

std::vector<std::string> parameter_names(const Prepared& prepared, const std::string& function) {
  const Function& f = *prepared.source->find_function(function);
  std::vector<std::string> out;
  for (const Parameter& p : f.params) out.push_back("%" + f.value(p.value).name);
  return out;
}

std::string result_name(const Function& f, size_t result) {
  const std::string& name = f.results[result].name;
  return "%" + (name.empty() ? std::to_string(result) : name);
}

// Positions in errors are those of the user's file.
Expected<std::vector<Returned>> follow(const Prepared& prepared, Prover& prover) {
  std::vector<Returned> out;
  interp::RunOptions options;
  options.backend.name = "shapes";
  options.backend.machine = default_machine();
  options.backend.machine.p2p_buffer_bytes = 0;
  options.summary = interp::RunOptions::Summary::kNone;
  options.attach = [&](interp::Interpreter& i) { prover.begin(i); };
  options.ended = [&](const interp::Interpreter& interpreter) {
    const interp::Code& code = interpreter.code();
    const Function& entry = *code.functions.front();
    const interp::CodeInstruction& last = code.instructions.back();
    for (size_t i = 0; i < entry.results.size(); ++i) {
      Returned& r = out.emplace_back();
      r.name = result_name(entry, i);
      r.type = entry.results[i].type;
      if (i < last.layouts.size() && last.layouts[i] != interp::kNoLayout)
        r.type = code.layouts[last.layouts[i]].type;
      for (Rank rank = 0; rank < code.rank_count; ++rank) {
        const auto ref = interpreter.result(rank, i);
        const bool known = ref && ref->placement != nullptr;
        r.places.push_back(known ? *ref->placement : Placement{});
        r.tokens.push_back(known ? prover.read(rank, *ref) : Tokens{});
      }
    }
  };
  const interp::BackendFactory make =
      [&](const interp::BackendRequest& request) -> Expected<std::unique_ptr<interp::Backend>> {
    sim::SimOptions sim;
    sim.machine = request.machine;
    sim.values = sim::SimOptions::Values::kNone;
    sim.observer = &prover;
    return sim::make_sim_backend(sim);
  };
  auto result = interp::run(prepared, make, options);
  if (!result) return tl::unexpected(interp::in_given_text(result.error(), *prepared.view));
  // The comparison of outputs reports those that are never written.
  const auto is_output = [&](const interp::Fault& fault) {
    return fault.record.kind == "uninitialised_read" && !fault.record.instructions.empty() &&
           prepared.view->mnemonic(prepared.view->find(fault.record.instructions.front())) ==
               record(OpKind::return_).mnemonic;
  };
  std::erase_if(result->faults, is_output);
  if (const interp::Fault* fault = result->worst())
    return tl::unexpected(interp::in_given_text(interp::to_error(*fault), *prepared.view));
  return out;
}

Expected<const Function*> find_fusion(const Program& program, const std::string& against) {
  const Function* found = program.find_function(against);
  if (found == nullptr)
    return fail(ErrorKind::kUsage, "against", fmt::format("there is no fusion @{}", against));
  if (found->kind == FunctionKind::kFusion) return found;
  std::string example;
  for (const Function& f : program.functions) {
    if (example.empty() && f.kind == FunctionKind::kFusion) example = ", as in @" + f.name;
  }
  return fail(
      ErrorKind::kUsage, "against",
      fmt::format("@{} is a {}; --against takes a fusion{}", against,
                  found->kind == FunctionKind::kKernel ? "kernel" : "host function", example));
}

// Returns the sizes that bind the fusion, and removes from `program` those that only the fusion
// needs: a host function that was lowered with sizes contains their numbers.
Expected<std::vector<std::pair<std::string, int64_t>>> take_sizes_of_fusion(
    ProgramOptions& program, const Function& given, const Function& fusion) {
  std::vector<std::pair<std::string, int64_t>> out;
  HOSTIR_ASSIGN_OR_RETURN(const auto sizes, parse_sizes(program.sizes, "--size"));
  const std::vector<std::string> own = unbound_sizes(given);
  const std::vector<std::string> other = unbound_sizes(fusion);
  std::vector<std::string> kept;
  for (size_t i = 0; i < sizes.size(); ++i) {
    const bool is_of_fusion = contains(other, sizes[i].first);
    if (is_of_fusion) out.push_back(sizes[i]);
    const bool is_bound = own.empty() && (is_of_fusion || other.empty());
    if (!is_bound) kept.push_back(program.sizes[i]);
  }
  program.sizes = std::move(kept);
  return out;
}

// The unsharded fusion, ready to run on one rank with parameters of the same shapes.
Expected<std::shared_ptr<const Prepared>> reference_of(
    const Prepared& prepared, const Program& program, const std::string& against,
    std::vector<std::pair<std::string, int64_t>> sizes, const SourceManager& sources) {
  HOSTIR_ASSIGN_OR_RETURN(const Function* fusion, find_fusion(program, against));
  const Function& given = *prepared.source->find_function(prepared.function);
  if (fusion->params.size() != given.params.size() ||
      fusion->results.size() != given.results.size()) {
    return fail(ErrorKind::kUsage, "against",
                fmt::format("@{} has {} parameters and {} results, @{} has {} and {}", given.name,
                            given.params.size(), given.results.size(), against,
                            fusion->params.size(), fusion->results.size()));
  }
  const Program plain = unshard(program, against);
  std::vector<interp::NamedInput> inputs;
  for (size_t i = 0; i < fusion->params.size(); ++i) {
    inputs.push_back({fusion->value(fusion->params[i].value).name, prepared.inputs[i].second});
  }
  interp::PrepareOptions options;
  options.function = against;
  options.sizes = std::move(sizes);
  options.sources = &sources;
  return interp::prepare(plain, inputs, options);
}

// Checks the findings, and outputs that are proven only if the kernels' own rules are correct, by
// runs on example inputs.
void confirm(const ExampleRuns& runs, const std::vector<Returned>& given, const Program& program,
             const std::set<std::string>& rules, const std::string& against,
             std::vector<Finding>& findings) {
  std::set<size_t> found;
  for (Finding& f : findings) {
    found.insert(f.output);
    if (f.output >= runs.outputs.size()) continue;
    const ExampleRuns::Output& output = runs.outputs[f.output];
    if (!output.difference) f.is_certain = false;
    if (output.difference && !output.is_rounding) f.is_certain = true;
    f.notes.push_back(
        {output.difference.value_or("the outputs are equal on the example inputs"), {}});
  }
  for (size_t i = 0; i < runs.outputs.size(); ++i) {
    const ExampleRuns::Output& output = runs.outputs[i];
    if (!output.difference || found.contains(i)) continue;
    if (rules.empty()) {
      if (output.is_rounding) continue;
      findings.push_back(
          {.output = i,
           .is_certain = true,
           .differs = fmt::format("{} is not equal to that of @{}, although their terms agree: "
                                  "this is a bug in the prover; please report it",
                                  given[i].name, against),
           .unproven = {},
           .span = {},
           .notes = {{*output.difference, {}}}});
      continue;
    }
    const std::string& rule = *rules.begin();
    const auto message = [&](const char* verdict) {
      return fmt::format(
          "{} is {} that of @{}, although the sharding rule of @{} promises that they are equal",
          given[i].name, verdict, against, fmt::join(rules, " and @"));
    };
    findings.push_back({.output = i,
                        .is_certain = !output.is_rounding,
                        .differs = message("not equal to"),
                        .unproven = message("not proven equal to"),
                        .span = program.find_function(rule)->rule_span,
                        .notes = {{*output.difference, {}}}});
  }
}

// The prover tracks elements, not bytes, so a buffer that is read as another dtype ends the proof.
std::optional<Finding> find_other_dtype(const interp::Code& code) {
  for (const Function* f : code.functions) {
    for (const InstrId id : f->preorder()) {
      const Instruction& i = f->instr(id);
      const HostRole role = record(i.kind).role;
      if ((role != HostRole::kView && role != HostRole::kAlloc) || i.operands.empty()) continue;
      const ValueId from = i.operands.front().value;
      if (!from.valid() || i.results.empty()) continue;
      const Type& given = f->value(from).type;
      const Type& made = f->value(i.results.front()).type;
      if (!is_tensor(given) || !is_tensor(made) || dtype_of(given) == dtype_of(made)) continue;
      Finding out;
      out.unproven = fmt::format(
          "nothing could be proven: {} reinterprets the {} of %{} as {}, and the proof follows "
          "elements, not bits",
          record(i.kind).mnemonic, name(dtype_of(given)), f->value(from).name,
          name(dtype_of(made)));
      out.differs = out.unproven;
      out.span = i.name_span;
      return out;
    }
  }
  return std::nullopt;
}

// Without values the host reads nothing, so a program with reads is not followed.
std::vector<Finding> find_host_read(const interp::Code& code, const Program& file) {
  std::vector<Finding> out;
  interp::CodeIndex at = 0;
  while (at < code.instructions.size() && code.instructions[at].kind != OpKind::read) ++at;
  if (at == code.instructions.size()) return out;
  const Instruction* i = in_file(file, code, at);
  const Note why = {"the host reads integers here, and a proof does not know their values",
                    i != nullptr ? i->span : SourceSpan()};
  for (size_t r = 0; r < code.functions.front()->results.size(); ++r) {
    const std::string name = result_name(*code.functions.front(), r);
    out.push_back(
        {r, false, name + " is not that of the fusion", name + " is not proven", {}, {why}});
  }
  return out;
}

// Errors: a rank's part belongs to a tensor of another shape or dtype than the fusion's result.
Expected<void> check_types(const Returned& given, const Returned& wanted,
                           const std::string& function, const std::string& against) {
  const Placement& want = wanted.places.front();
  for (size_t rank = 0; rank < given.places.size(); ++rank) {
    const Placement& have = given.places[rank];
    if (given.tokens[rank].empty() || (have.global == want.global && have.dtype == want.dtype))
      continue;
    return fail(
        ErrorKind::kUsage, "against",
        fmt::format("result {} of @{} is {}, that of @{} is {}; both must have the same shape "
                    "and dtype",
                    given.name, function, format_shape_text(have.dtype, have.global), against,
                    format_shape_text(want.dtype, want.global)));
  }
  return {};
}

}  // namespace

Expected<Proof> prove(const LoadedFile& file, ProgramOptions program, const std::string& against) {
  program.input_data = InputData::kShapes;
  std::string notice;
  HOSTIR_ASSIGN_OR_RETURN(const ChosenFunction chosen, choose_function(file, program.function));
  HOSTIR_ASSIGN_OR_RETURN(const Function* fusion, find_fusion(*chosen.program, against));
  HOSTIR_ASSIGN_OR_RETURN(
      auto fusion_sizes,
      take_sizes_of_fusion(program, *chosen.program->find_function(chosen.name), *fusion));
  HOSTIR_ASSIGN_OR_RETURN(const auto prepared, program.prepare(file, &notice));
  HOSTIR_ASSIGN_OR_RETURN(const auto plain, reference_of(*prepared, *chosen.program, against,
                                                         std::move(fusion_sizes), file.sources));
  Algebra algebra;
  const std::vector<std::string> names = parameter_names(*plain, against);
  sim::proof::MovedValues moved(algebra);
  Prover reference(algebra, moved, sim::proof::Side::kFusion, *plain->code, names);
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<Returned> wanted, follow(*plain, reference));
  for (const Prover::Written& w : reference.written()) {
    if (const auto form = algebra.whole_form(w.state))
      algebra.name(*form, fmt::format("{} of @{}", reference.name_of(w), against));
  }
  Prover prover(algebra, moved, sim::proof::Side::kProgram, *prepared->code, names);
  std::vector<Finding> findings = find_host_read(*prepared->code, *chosen.program);
  std::vector<Returned> given;
  if (findings.empty()) {
    HOSTIR_ASSIGN_OR_RETURN(given, follow(*prepared, prover));
  }
  Proof out;
  out.outputs = wanted.size();
  out.ranks = prepared->code->rank_count;
  out.rules = prover.rules();
  ProofComparison comparison(algebra, *prepared->code, *chosen.program, prover, reference, against);
  for (size_t i = 0; i < given.size() && i < wanted.size(); ++i) {
    HOSTIR_TRY(check_types(given[i], wanted[i], prepared->function, against));
    if (auto found = comparison.compare(i, given[i], wanted[i]))
      findings.push_back(std::move(*found));
  }
  if (auto found = find_other_dtype(*prepared->code); found && findings.empty())
    findings.push_back(std::move(*found));
  const ExampleRuns runs = run_examples(file, *chosen.program, program, against);
  if (runs.compared) confirm(runs, given, *chosen.program, out.rules, against, findings);
  for (Finding& f : findings) {
    Diagnostic& d = out.findings.emplace_back();
    d.id = f.is_certain ? "against_differs" : "against_unproven";
    d.message = std::move(f.is_certain ? f.differs : f.unproven);
    d.span = f.span;
    d.notes = std::move(f.notes);
    if (out.verdict != Proof::Verdict::kDiffers)
      out.verdict = f.is_certain ? Proof::Verdict::kDiffers : Proof::Verdict::kUnproven;
  }
  return out;
}

}  // namespace hostir::api
