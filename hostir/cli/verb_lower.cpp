#include <fmt/core.h>

#include "hostir/cli/program_arguments.h"
#include "hostir/cli/verbs.h"
#include "hostir/passes/lower.h"
#include "hostir/text/printer.h"

namespace hostir::cli {

namespace {

class LowerVerb : public Verb {
 public:
  std::string_view name() const override { return "lower"; }
  std::string_view summary() const override {
    return "Lower a fusion and print what comes out, and why";
  }
  std::string_view example() const override {
    return "  hostir lower tests/programs/tp_mlp.hir --mesh tp=4 --size B=2 --size S=6 --size H=24 "
           "--size F=48\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --to sharded            the fusion with "
           "its reshards\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --print-after-all       the text after "
           "every pass\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --explain %y            why this "
           "sharding, why this collective";
  }
  void declare(Arguments& arguments) override {
    program_.declare(arguments);
    std::vector<std::string> phases;
    for (const LowerPhase p : all_lower_phases()) phases.emplace_back(hostir::name(p));
    phases.emplace_back("last");
    arguments.choice("--to", to_, std::move(phases), "the phase to stop at");
    arguments.flag("--print-after-all", all_, "print the text after every phase");
    arguments.option("--explain", explain_,
                     "why a value is sharded as it is and why its collectives are there");
  }
  int execute(Terminal& terminal) override {
    auto loaded = load_file(program_.path);
    if (!loaded) return terminal.report(loaded.error());
    const auto done = lower_file(terminal, *loaded);
    return done ? 0 : terminal.report(done.error(), loaded->sources);
  }

 private:
  LowerPhase until() const {
    for (const LowerPhase p : all_lower_phases()) {
      if (hostir::name(p) == to_) return p;
    }
    return LowerPhase::kLifetimes;
  }

  Expected<void> lower_file(Terminal& terminal, const LoadedFile& file) {
    HOSTIR_ASSIGN_OR_RETURN(const ChosenFunction chosen, choose_function(file, program_.function));
    HOSTIR_ASSIGN_OR_RETURN(const interp::PrepareOptions prepare, program_.prepare_options());
    HOSTIR_TRY(check_sizes(*chosen.program->find_function(chosen.name), prepare.sizes));
    HOSTIR_ASSIGN_OR_RETURN(const Program program,
                            interp::resized_program(*chosen.program, chosen.name, prepare));
    if (program.find_function(chosen.name)->kind != FunctionKind::kFusion)
      return print_as_it_is(terminal, program, chosen.name);
    LowerOptions options;
    for (const auto& [name, size] : prepare.sizes) options.sizes.bind(name, size);
    options.keep = prepare.keep;
    options.until = until();
    text::PrintOptions print;
    print.derived = text::DerivedComments::kAll;
    if (all_) {
      options.dump = [&](LowerPhase phase, const Program& after) {
        terminal.print(fmt::format("// ===== after {} =====\n{}\n", hostir::name(phase),
                                   text::print(after, print)));
      };
    }
    HOSTIR_ASSIGN_OR_RETURN(const Lowered lowered, lower(program, chosen.name, options));
    if (!explain_.empty()) return print_explanation(terminal, lowered);
    if (!all_) terminal.print(text::print(lowered.program, print));
    return {};
  }

  // A host function is what lowering ends with: there is nothing to do, which is said.
  Expected<void> print_as_it_is(Terminal& terminal, const Program& program,
                                const std::string& function) const {
    if (!explain_.empty() || all_) {
      return fail(ErrorKind::kUsage, "usage",
                  fmt::format("@{} is a host function, not a fusion: no pass decides anything "
                              "about it",
                              function));
    }
    terminal.note(
        fmt::format("note: @{} is a host function already; it is printed as it is", function));
    text::PrintOptions print;
    print.derived = text::DerivedComments::kAll;
    terminal.print(text::print(program, print));
    return {};
  }

  Expected<void> print_explanation(Terminal& terminal, const Lowered& lowered) {
    const std::string value = explain_.starts_with('%') ? explain_.substr(1) : explain_;
    const auto id = lowered.sharded.find_value(value);
    if (!id) return fail(ErrorKind::kUsage, "usage", "the fusion has no value %" + value);
    terminal.print(fmt::format("%{} : {}\n", value, to_string(lowered.sharded.value(*id).type)));
    const Explanation records = about(lowered.explanation, value);
    terminal.print(records.empty() ? "nothing was decided about it: it is replicated\n"
                                   : to_string(records));
    return {};
  }

  ProgramArguments program_;
  std::string to_ = "last";
  std::string explain_;
  bool all_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_lower_verb() { return std::make_unique<LowerVerb>(); }

}  // namespace hostir::cli
