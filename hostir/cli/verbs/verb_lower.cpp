#include <fmt/core.h>

#include "hostir/api/open/backends.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/layer_lines.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/passes/pass_list.h"
#include "hostir/text/print/printer.h"

namespace hostir::cli {

namespace {

class LowerVerb : public Verb {
 public:
  std::string_view name() const override { return "lower"; }
  std::string_view summary() const override {
    return "Lower a fusion; print the result and the reasons";
  }
  std::string_view example() const override {
    return "  hostir lower tests/programs/tp_mlp.hir --mesh tp=4 --size B=2 --size S=6 --size H=24 "
           "--size F=48\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --to sharded            the fusion with "
           "its reshards\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --print-after-all       the text after "
           "every pass\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --print-after steps     the text after "
           "that "
           "one\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --time-passes           how long each "
           "took\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --print-kernels         the CUDA C++ of "
           "its "
           "kernels\n"
           "  hostir lower tests/programs/tp_mlp.hir ... --explain %y            why this "
           "sharding, why this collective";
  }
  void declare(Arguments& arguments) override {
    declare_program(program_, arguments);
    declare_gradient(program_, arguments);
    std::vector<std::string> phases;
    for (const Pass& pass : all_passes()) phases.emplace_back(pass.name);
    phases.emplace_back("none");
    arguments.choice("--print-after", print_after_, phases, "print the text after this phase");
    phases.back() = "last";
    arguments.choice("--to", to_, std::move(phases), "the phase to stop at");
    std::string optional;
    const auto list = [&optional](std::string_view name) {
      optional += fmt::format("{}{}", optional.empty() ? "" : ", ", name);
    };
    for (const Pass& pass : all_passes()) {
      if (pass.needed.empty()) list(pass.name);
    }
    for (const Rewrite& rewrite : all_rewrites()) list(rewrite.name);
    arguments.repeated("--skip", skip_, "a pass or rewrite to leave out: " + optional);
    arguments.option(
        "--machine", machine_,
        "machine for the cost model, from the file or built in; see `hostir machines`");
    arguments.flag("--time-passes", time_, "print how long each pass took");
    arguments.flag("--print-after-all", all_, "print the text after every phase");
    arguments.flag("--print-kernels", kernels_,
                   "print the CUDA C++ that is generated for the kernels; needs no GPU");
    arguments.option("--explain", explain_,
                     "why a value is sharded as it is and why its collectives are there, beside "
                     "the choices that lost; with @f: all of the fusion");
  }
  int execute(Terminal& terminal) override {
    auto loaded = api::load_file(program_.path);
    if (!loaded) return terminal.report(loaded.error());
    if (auto made = program_.differentiate(*loaded); !made) {
      return terminal.report(made.error(), loaded->sources);
    }
    const auto done = lower_file(terminal, *loaded);
    return done ? 0 : terminal.report(done.error(), loaded->sources);
  }

 private:
  LowerPhase until() const {
    for (const Pass& pass : all_passes()) {
      if (pass.name == to_) return pass.phase;
    }
    return LowerPhase::kLifetimes;
  }

  Expected<void> lower_file(Terminal& terminal, const api::LoadedFile& file) {
    HOSTIR_ASSIGN_OR_RETURN(const api::ChosenFunction chosen,
                            api::choose_function(file, program_.function));
    HOSTIR_ASSIGN_OR_RETURN(const interp::PrepareOptions prepare, program_.prepare_options());
    HOSTIR_TRY(api::check_sizes(*chosen.program->find_function(chosen.name), prepare.sizes));
    HOSTIR_ASSIGN_OR_RETURN(const Program program,
                            interp::resized_program(*chosen.program, chosen.name, prepare));
    LowerOptions options;
    for (const auto& [name, size] : prepare.sizes) options.sizes->bind(name, size);
    if (program.find_function(chosen.name)->kind != FunctionKind::kFusion) {
      if (kernels_) return print_kernels(terminal, program, chosen.name, *options.sizes);
      return print_as_it_is(terminal, program, chosen.name);
    }
    options.keep = prepare.keep;
    options.until = until();
    options.overlap = prepare.overlap;
    options.skip = skip_;
    text::PrintOptions print;
    print.derived = text::DerivedComments::kAll;
    HOSTIR_ASSIGN_OR_RETURN(options.machine, machine_of(program));
    if (all_ || print_after_ != "none") {
      options.dump = [&](LowerPhase phase, const Program& after) {
        if (!all_ && hostir::name(phase) != print_after_) return;
        terminal.print(fmt::format("// ===== after {} =====\n{}\n", hostir::name(phase),
                                   text::print(after, print)));
      };
    }
    if (!explain_.empty()) options.alternatives = Alternatives::kExplained;
    HOSTIR_ASSIGN_OR_RETURN(const Lowered lowered, lower(program, chosen.name, options));
    Explanation overlapped = lowered.explanation;
    std::erase_if(overlapped, [](const ExplainRecord& r) { return r.pass != "overlap"; });
    if (!overlapped.empty()) terminal.note(to_string(overlapped));
    if (!explain_.empty()) return print_explanation(terminal, lowered);
    if (time_) return print_times(terminal, lowered);
    if (kernels_) {
      return print_kernels(terminal, lowered.program, lowered.function, *options.sizes);
    }
    if (!options.dump) terminal.print(text::print(lowered.program, print));
    return {};
  }

  // The named machine, else the first one in the file, as for `run`.
  Expected<const Machine*> machine_of(const Program& program) const {
    if (machine_.empty()) {
      return program.machines.empty() ? &default_machine() : &program.machines.front();
    }
    const std::string wanted = machine_.starts_with('@') ? machine_.substr(1) : machine_;
    const Machine* found = program.find_machine(wanted);
    if (found == nullptr) found = find_builtin_machine(wanted);
    if (found != nullptr) return found;
    return fail(ErrorKind::kUsage, "usage",
                "no machine is called \"" + wanted + "\"; see `hostir machines`");
  }

  Expected<void> print_times(Terminal& terminal, const Lowered& lowered) const {
    for (size_t i = 0; i < lowered.pass_ns.size(); ++i) {
      const Pass& pass = all_passes()[i];
      terminal.print(fmt::format("{:10} {:10.3f} ms  {}\n", pass.name,
                                 static_cast<double>(lowered.pass_ns[i]) / 1e6, pass.summary));
    }
    return {};
  }

  Expected<void> print_kernels(Terminal& terminal, const Program& program,
                               const std::string& function, const SizeBindings& sizes) const {
    if (to_ != "last") {
      return fail(ErrorKind::kUsage, "usage",
                  "--print-kernels needs the last phase: leave --to " + to_ + " out");
    }
    HOSTIR_ASSIGN_OR_RETURN(
        const auto code,
        interp::compile_code(std::make_shared<Program>(program), {function, sizes}));
    HOSTIR_ASSIGN_OR_RETURN(const std::string text, api::list_cuda_kernels(*code));
    terminal.print(text.empty() ? "// No launch has operands that are placed before the run.\n"
                                : text);
    return {};
  }

  // A host function needs no lowering: prints it unchanged, with a note.
  Expected<void> print_as_it_is(Terminal& terminal, const Program& program,
                                const std::string& function) const {
    if (!explain_.empty() || all_) {
      return fail(ErrorKind::kUsage, "usage",
                  fmt::format("@{} is a host function, not a fusion: no pass decides anything "
                              "about it",
                              function));
    }
    terminal.note(
        fmt::format("note: @{} is already a host function; it is printed unchanged", function));
    text::PrintOptions print;
    print.derived = text::DerivedComments::kAll;
    terminal.print(text::print(program, print));
    return {};
  }

  Expected<void> print_explanation(Terminal& terminal, const Lowered& lowered) {
    if (explain_ == "@" + lowered.sharded.name) {
      print_all_reasons(terminal, lowered.explanation);
      return {};
    }
    const std::string named = explain_.starts_with('%') ? explain_.substr(1) : explain_;
    const std::vector<std::string> passes = names_in_passes(lowered.loop_values, named);
    if (passes.empty()) return print_explanation(terminal, lowered, named);
    for (const std::string& value : passes) HOSTIR_TRY(print_explanation(terminal, lowered, value));
    return {};
  }

  Expected<void> print_explanation(Terminal& terminal, const Lowered& lowered,
                                   const std::string& value) {
    const auto id = lowered.sharded.find_value(value);
    if (!id)
      return fail(ErrorKind::kUsage, "usage",
                  fmt::format("@{} has no value %{}", lowered.sharded.name, value));
    terminal.print(fmt::format("%{} : {}\n", value, to_string(lowered.sharded.value(*id).type)));
    const Explanation records = about(lowered.explanation, value, address_of(lowered, value));
    const Sharding* sharding = sharding_of(lowered.sharded.value(*id).type);
    const bool replicated = sharding == nullptr || sharding->is_fully_replicated();
    const char* none = replicated ? "nothing was decided about it: it is replicated\n"
                                  : "nothing was decided about it: it has its declared sharding\n";
    terminal.print(records.empty() ? none : to_string(records));
    return {};
  }

  // Reasons that are the same in several layers are printed once.
  static void print_all_reasons(Terminal& terminal, const Explanation& records) {
    std::vector<NamedLine> lines;
    for (const ExplainRecord& r : records)
      lines.push_back({r.value.empty() ? "" : "%" + r.value, sentence(r), r.pass + ":"});
    std::string text;
    for (const std::string& line : collapse_layer_lines(lines)) text += line + "\n";
    terminal.print(text + costed_note(text));
  }

  static std::string expanded_from(const Function& sharded, const std::string& value) {
    const auto id = sharded.find_value(value);
    if (!id || !sharded.value(*id).defined_by.valid()) return {};
    const std::vector<OpRef>& from = sharded.instr(sharded.value(*id).defined_by).from;
    return from.empty() ? std::string() : fmt::format("@{}#{}", from[0].function, from[0].number);
  }

  // The address of the fusion instruction that makes the value, or from whose expansion the value
  // comes; empty for a parameter.
  static std::string address_of(const Lowered& lowered, const std::string& value) {
    const Function* fusion = lowered.program.find_function(lowered.sharded.name);
    const auto id = fusion == nullptr ? std::nullopt : fusion->find_value(value);
    if (!id) return expanded_from(lowered.sharded, value);
    if (!fusion->value(*id).defined_by.valid()) return {};
    const std::vector<InstrId> all = fusion->preorder();
    const auto at = std::find(all.begin(), all.end(), fusion->value(*id).defined_by);
    if (at == all.end()) return {};
    return address(*fusion, static_cast<uint32_t>(at - all.begin() + 1));
  }

  api::ProgramOptions program_;
  std::string to_ = "last";
  std::vector<std::string> skip_;
  std::string print_after_ = "none";
  std::string machine_;
  std::string explain_;
  bool all_ = false;
  bool time_ = false;
  bool kernels_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_lower_verb() { return std::make_unique<LowerVerb>(); }

}  // namespace hostir::cli
