#include <fmt/format.h>

#include <algorithm>

#include "hostir/api/backends.h"
#include "hostir/api/program_options.h"
#include "hostir/api/prove.h"
#include "hostir/cli/verbs.h"
#include "hostir/passes/bind_sizes.h"
#include "interp/core/code.h"
#include "interp/core/fault.h"
#include "interp/core/partial_claims.h"
#include "interp/session/prepare/program_view.h"

namespace hostir::cli {

namespace {

class VerifyVerb : public Verb {
 public:
  std::string_view name() const override { return "verify"; }
  std::string_view summary() const override { return "Check files without running them"; }
  std::string_view example() const override {
    return "  hostir verify my.hir       diagnostics with carets; exit status 2 if there is an "
           "error. The calls of host functions are followed on every rank, without values: they "
           "must meet, agree and not race\n"
           "  hostir verify my.hir @mine --against @mlp --size B=8    proves that host function "
           "@mine computes fusion @mlp; exit status 0 proven, 1 differs, 5 not proven";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("files", files_,
                          "`.hir` files, or - for standard input; with --against one file, and @f");
    arguments.option("--against", against_,
                     "a fusion: proves that @f computes it, op by op, on every rank");
    arguments.repeated("--size", program_.sizes, "with --against: bind a symbolic size, e.g. B=8");
    arguments.repeated("--mesh", program_.mesh, "with --against: resize a mesh axis, e.g. tp=4");
  }
  int execute(Terminal& terminal) override {
    if (!against_.empty()) return prove(terminal);
    for (const std::string& word : files_) {
      if (!word.starts_with('@')) continue;
      return terminal.report(
          fail(ErrorKind::kUsage, "usage", word + " needs --against @fusion").value());
    }
    int status = 0;
    for (const std::string& path : files_) {
      const auto loaded = api::load_file(path);
      if (!loaded) {
        status = std::max(status, terminal.report(loaded.error()));
        continue;
      }
      std::vector<Diagnostic> diagnostics = loaded->diagnostics;
      if (!has_error(diagnostics)) {
        for (const Program& part : loaded->file.parts) check_host_functions(part, diagnostics);
      }
      if (!has_error(diagnostics)) {
        for (const Program& part : loaded->file.parts) {
          if (!check_calls(terminal, part, loaded->sources))
            status = std::max(status, exit_status(ErrorKind::kInvalid));
        }
      }
      if (diagnostics.empty()) continue;
      if (has_error(diagnostics)) status = std::max(status, exit_status(ErrorKind::kInvalid));
      terminal.report(Error{ErrorKind::kInvalid, std::move(diagnostics)}, loaded->sources);
    }
    return status;
  }

 private:
  static constexpr int kUnproven = 5;

  int prove(Terminal& terminal) {
    for (const std::string& word : files_) {
      std::string& place = word.starts_with('@') ? program_.function : program_.path;
      if (!place.empty()) {
        return terminal.report(fail(ErrorKind::kUsage, "usage",
                                    "--against takes one file and one function, as in "
                                    "my.hir @mine --against @mlp")
                                   .value());
      }
      place = word;
    }
    const auto loaded = api::load_file(program_.path);
    if (!loaded) return terminal.report(loaded.error());
    if (program_.function.empty() && !has_error(loaded->diagnostics)) {
      const auto only = only_host_function(*loaded);
      if (!only) return terminal.report(only.error());
      program_.function = *only;
    }
    const std::string against = against_.starts_with('@') ? against_.substr(1) : against_;
    auto proof = api::prove(*loaded, program_, against);
    if (!proof) return terminal.report(proof.error(), loaded->sources);
    if (proof->verdict == api::Proof::Verdict::kProven) {
      const std::string rules =
          proof->rules.empty()
              ? ""
              : fmt::format(", assuming that the sharding rule{} of @{} holds",
                            proof->rules.size() == 1 ? "" : "s", fmt::join(proof->rules, " and @"));
      terminal.print(fmt::format("{} computes @{}: {} output{} proven on {} rank{}{}\n",
                                 program_.function, against, proof->outputs,
                                 proof->outputs == 1 ? "" : "s", proof->ranks,
                                 proof->ranks == 1 ? "" : "s", rules));
      return 0;
    }
    const bool differs = proof->verdict == api::Proof::Verdict::kDiffers;
    terminal.report(Error{ErrorKind::kExpectation, std::move(proof->findings)}, loaded->sources);
    return differs ? exit_status(ErrorKind::kExpectation) : kUnproven;
  }

  static Expected<std::string> only_host_function(const api::LoadedFile& file) {
    std::vector<std::string> names;
    for (const Program& part : file.file.parts) {
      for (const Function& f : part.functions) {
        if (f.kind == FunctionKind::kHost) names.push_back("@" + f.name);
      }
    }
    if (names.size() == 1) return names.front();
    return fail(
        ErrorKind::kUsage, "usage",
        fmt::format("name the function to prove, as in hostir verify my.hir @mine "
                    "--against @mlp; the file has {}",
                    names.empty() ? "no host function"
                                  : fmt::format("the host functions {}", fmt::join(names, ", "))));
  }

  static bool has_error(const std::vector<Diagnostic>& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::kError; });
  }

  // The checks that a run makes before its first instruction: recursion, groups, layout claims.
  // Skips a function whose sizes are bound only by inputs.
  static void check_host_functions(const Program& part, std::vector<Diagnostic>& diagnostics) {
    const auto program = std::make_shared<const Program>(part);
    for (const Function& f : part.functions) {
      if (f.kind != FunctionKind::kHost || !unbound_sizes(f).empty()) continue;
      const auto code = interp::compile_code(program, {.entry = f.name, .sizes = {}});
      std::vector<Diagnostic> found;
      if (!code) found = code.error().diagnostics;
      if (code) {
        for (const auto& [at, operand, sentence] : interp::misplaced_reductions(**code)) {
          Diagnostic& d = found.emplace_back();
          d.id = "partial_claim";
          d.message = sentence;
          d.span = (*code)->source(at).operands[operand].span;
        }
      }
      for (Diagnostic& d : found) {
        // An error in a callee is found again in each caller.
        const bool known =
            std::any_of(diagnostics.begin(), diagnostics.end(), [&](const Diagnostic& other) {
              return other.id == d.id && other.span.begin == d.span.begin;
            });
        if (!known) diagnostics.push_back(std::move(d));
      }
    }
  }

  // Runs the host functions that no other one calls on all ranks without values, and reports what
  // goes wrong. False if anything does. Skips a function whose calls depend on values or inputs.
  static bool check_calls(Terminal& terminal, const Program& part, const SourceManager& sources) {
    bool good = true;
    for (const Function& f : part.functions) {
      if (f.kind != FunctionKind::kHost || !unbound_sizes(f).empty()) continue;
      if (is_called(part, f) || depends_on_values(part, f, part.functions.size())) continue;
      api::BackendOptions shapes;
      shapes.backend = "shapes";
      const auto request = shapes.request(part);
      std::vector<interp::NamedInput> inputs;
      for (const Parameter& parameter : f.params) {
        const Value& value = f.value(parameter.value);
        Tensor input{dtype_of(value.type), {}, {}};
        for (const IndexExpr& e : shape_of(value.type))
          input.extents.push_back(e.simplified().value());
        inputs.push_back({value.name, std::move(input)});
      }
      interp::PrepareOptions options;
      options.function = f.name;
      options.sources = &sources;
      const auto prepared = api::prepare_shapes(part, std::move(inputs), options);
      if (!request || !prepared) continue;  // `run` says why
      interp::RunOptions run;
      run.backend = *request;
      run.summary = interp::RunOptions::Summary::kNone;
      run.max_steps = kMostSteps;
      const auto ran = interp::run(**prepared, api::make_backend_factory(), run);
      if (!ran) continue;
      for (const interp::Fault& fault : ran->faults) {
        const bool is_limit = fault.record.kind == "max_steps" || fault.record.kind == "max_memory";
        if (fault.severity != Severity::kError || is_limit) continue;
        const interp::ProgramView& view = *(*prepared)->view;
        terminal.report(interp::in_given_text(interp::to_error(fault), view),
                        interp::sources_of_error(view));
        good = false;
      }
    }
    return good;
  }

  static bool is_called(const Program& part, const Function& f) {
    return std::any_of(part.functions.begin(), part.functions.end(), [&](const Function& other) {
      return std::any_of(other.instructions.begin(), other.instructions.end(),
                         [&](const Instruction& i) { return is_callee(i, f.name); });
    });
  }

  static bool is_callee(const Instruction& i, const std::string& name) {
    const auto* callee = i.attributes.get<Symbol>("callee");
    return callee != nullptr && callee->name == name;
  }

  // True if a value is brought to the host here or in a function that is called, up to `depth`.
  static bool depends_on_values(const Program& part, const Function& f, size_t depth) {
    return std::any_of(f.instructions.begin(), f.instructions.end(), [&](const Instruction& i) {
      if (i.kind == OpKind::read) return true;
      const auto* callee = i.attributes.get<Symbol>("callee");
      const Function* called = callee == nullptr ? nullptr : part.find_function(callee->name);
      return called != nullptr && depth > 0 && depends_on_values(part, *called, depth - 1);
    });
  }

  static constexpr uint64_t kMostSteps = 200'000;

  std::vector<std::string> files_;
  std::string against_;
  api::ProgramOptions program_;
};

}  // namespace

std::unique_ptr<Verb> make_verify_verb() { return std::make_unique<VerifyVerb>(); }

}  // namespace hostir::cli
