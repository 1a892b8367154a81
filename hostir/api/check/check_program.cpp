#include "hostir/api/check/check_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "hostir/api/open/backends.h"
#include "hostir/api/open/example_inputs.h"
#include "hostir/api/open/program_options.h"
#include "hostir/passes/prepare/bind_sizes.h"
#include "interp/core/claims/partial_claims.h"
#include "interp/core/fault.h"
#include "interp/session/prepare/input_values.h"

namespace hostir::api {

namespace {

constexpr uint64_t kMostSteps = 200'000;

using Sizes = std::vector<std::pair<std::string, int64_t>>;

/// A host function with sizes and inputs to check it with.
struct CheckedFunction {
  const Function* function = nullptr;
  std::vector<interp::NamedInput> inputs;
  Sizes sizes;
  SizeBindings bound;
  std::string guessed;  // `?M = 8, ?N = 8`: sizes that nobody gave
};

// nullopt if the sizes cannot be found.
std::optional<CheckedFunction> subject_of(const Program& program, const Function& f,
                                          const std::string& directory) {
  CheckedFunction out;
  out.function = &f;
  if (unbound_sizes(f).empty()) {
    for (const Parameter& parameter : f.params) {
      const Value& value = f.value(parameter.value);
      Tensor input{dtype_of(value.type), {}, {}};
      for (const IndexExpr& e : shape_of(value.type)) {
        const auto size = e.evaluate(axis_sizes(program, f));
        if (!size) return std::nullopt;
        input.extents.push_back(*size);
      }
      out.inputs.push_back({value.name, std::move(input)});
    }
    return out;
  }
  if (!add_example_inputs(program, f.name, directory, out.inputs, out.sizes)) return std::nullopt;
  auto bound = interp::sizes_from_inputs(f, out.inputs, out.sizes);
  if (!bound) return std::nullopt;
  out.bound = std::move(*bound);
  for (const auto& [name, size] : out.sizes)
    out.guessed += fmt::format("{}?{} = {}", out.guessed.empty() ? "" : ", ", name, size);
  return out;
}

// True for errors that do not depend on the sizes.
bool holds_at_any_size(const std::string& id) {
  static const std::set<std::string, std::less<>> kIds = {
      "partial_claim",   "block_order", "call_layout",    "code_call",
      "use_after_free",  "double_free", "free_in_flight", "uninitialised_read",
      "use_before_wait", "leak",        "deadlock"};
  return id.starts_with("race_") || kIds.contains(id);
}

bool is_called_by_any(const Program& program, const Function& f) {
  return std::any_of(program.functions.begin(), program.functions.end(),
                     [&](const Function& other) {
                       return std::any_of(other.instructions.begin(), other.instructions.end(),
                                          [&](const Instruction& i) {
                                            const auto* callee = i.attributes.get<Symbol>("callee");
                                            return callee != nullptr && callee->name == f.name;
                                          });
                     });
}

class Checks {
 public:
  Checks(const Program& program, const SourceManager& sources)
      : program_(program), shared_(std::make_shared<const Program>(program)), sources_(sources) {}

  void compile(const CheckedFunction& subject) {
    Error error;
    const auto code =
        interp::compile_code(shared_, {.entry = subject.function->name, .sizes = subject.bound});
    if (!code) error = code.error();
    if (code) {
      for (const auto& [at, operand, sentence] : interp::misplaced_reductions(**code)) {
        Diagnostic& d = error.diagnostics.emplace_back();
        d.id = "partial_claim";
        d.message = sentence;
        d.span = (*code)->source(at).operands[operand].span;
      }
    }
    add(subject, std::move(error), nullptr);
  }

  void run(const CheckedFunction& subject) {
    if (is_called_by_any(program_, *subject.function) || wrong_.contains(subject.function->name))
      return;
    BackendOptions shapes;
    shapes.backend = "shapes";
    const auto request = shapes.request(program_);
    interp::PrepareOptions options;
    options.function = subject.function->name;
    options.sources = &sources_;
    options.sizes = subject.sizes;
    const auto prepared = prepare_shapes(program_, subject.inputs, options);
    if (!request || !prepared) return;  // `run` says why
    interp::RunOptions how;
    how.backend = *request;
    how.summary = interp::RunOptions::Summary::kNone;
    how.max_steps = kMostSteps;
    const auto ran = interp::run(**prepared, make_backend_factory(), how);
    if (!ran) return add(subject, ran.error(), *prepared);  // a kernel does not fit its operands
    for (const interp::Fault& fault : ran->faults) {
      const std::string& kind = fault.record.kind;
      if (kind == "backend") return;  // a value that the host reads, and what follows from it
      const bool is_limit = kind == "max_steps" || kind == "max_memory";
      if (fault.severity == Severity::kError && !is_limit)
        add(subject, interp::to_error(fault), *prepared);
    }
  }

  std::vector<ProgramFinding> all() { return std::move(findings_); }

 private:
  // Adds only new errors: an error in a callee is found again in each caller.
  void add(const CheckedFunction& subject, Error error,
           std::shared_ptr<const interp::Prepared> run) {
    if (run) error = interp::in_given_text(std::move(error), *run->view);
    Error kept;
    kept.kind = error.kind;
    for (Diagnostic& d : error.diagnostics) {
      if (!subject.guessed.empty() && !holds_at_any_size(d.id)) continue;
      wrong_.insert(subject.function->name);
      if (!seen_.emplace(d.id, d.span.file, d.span.begin, d.message).second) continue;
      if (!subject.guessed.empty() && run)
        d.notes.push_back({"checked with " + subject.guessed + ": no test gives the sizes", {}});
      kept.diagnostics.push_back(std::move(d));
    }
    if (!kept.diagnostics.empty()) findings_.push_back({std::move(kept), std::move(run)});
  }

  const Program& program_;
  const std::shared_ptr<const Program> shared_;
  const SourceManager& sources_;
  std::set<std::string> wrong_;  // functions with an error, which are not run
  std::set<std::tuple<std::string, uint32_t, uint32_t, std::string>> seen_;
  std::vector<ProgramFinding> findings_;
};

}  // namespace

std::vector<ProgramFinding> check_program(const Program& program, const std::string& directory,
                                          const SourceManager& sources) {
  Checks checks(program, sources);
  std::vector<CheckedFunction> subjects;
  for (const Function& f : program.functions) {
    if (f.kind != FunctionKind::kHost) continue;
    if (auto subject = subject_of(program, f, directory)) subjects.push_back(std::move(*subject));
  }
  for (const CheckedFunction& subject : subjects) checks.compile(subject);
  for (const CheckedFunction& subject : subjects) checks.run(subject);
  return checks.all();
}

}  // namespace hostir::api
