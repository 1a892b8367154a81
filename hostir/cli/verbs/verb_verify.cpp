#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hostir/api/check/check_program.h"
#include "hostir/api/check/prove.h"
#include "hostir/api/open/program_options.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/support/text.h"
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
      const bool sound = !has_error(diagnostics);
      if (!sound) status = std::max(status, exit_status(ErrorKind::kInvalid));
      if (!diagnostics.empty())
        terminal.report(Error{ErrorKind::kInvalid, std::move(diagnostics)}, loaded->sources);
      if (sound && !check_host_functions(terminal, *loaded, path))
        status = std::max(status, exit_status(ErrorKind::kInvalid));
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
      const std::string rules = proof->rules.empty()
                                    ? ""
                                    : fmt::format(", assuming that the sharding {} of @{} {}",
                                                  proof->rules.size() == 1 ? "rule" : "rules",
                                                  fmt::join(proof->rules, " and @"),
                                                  proof->rules.size() == 1 ? "holds" : "hold");
      terminal.print(fmt::format("{} computes @{}: {} proven on {}{}\n", program_.function, against,
                                 counted(static_cast<size_t>(proof->outputs), "output"),
                                 counted(static_cast<size_t>(proof->ranks), "rank"), rules));
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

  // Reports what is wrong; false if anything is.
  static bool check_host_functions(Terminal& terminal, const api::LoadedFile& file,
                                   const std::string& path) {
    bool good = true;
    const std::string directory = std::filesystem::path(path).parent_path().string();
    for (const Program& part : file.file.parts) {
      for (const api::ProgramFinding& finding : api::check_program(part, directory, file.sources)) {
        terminal.report(finding.error,
                        finding.run ? interp::sources_of_error(*finding.run->view) : file.sources);
        good = false;
      }
    }
    return good;
  }

  std::vector<std::string> files_;
  std::string against_;
  api::ProgramOptions program_;
};

}  // namespace

std::unique_ptr<Verb> make_verify_verb() { return std::make_unique<VerifyVerb>(); }

}  // namespace hostir::cli
