#include <fmt/core.h>

#include <algorithm>

#include "hostir/cli/program_file.h"
#include "hostir/cli/verbs.h"

namespace hostir::cli {

namespace {

class VerifyVerb : public Verb {
 public:
  std::string_view name() const override { return "verify"; }
  std::string_view summary() const override { return "Check files without running them"; }
  std::string_view example() const override {
    return "  hostir verify my.hir       diagnostics with carets; exit status 2 if there is an "
           "error";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("files", files_, "`.hir` files, or - for standard input");
  }
  int execute(Terminal& terminal) override {
    int status = 0;
    for (const std::string& path : files_) {
      const auto loaded = load_file(path);
      if (!loaded) {
        status = std::max(status, terminal.report(loaded.error()));
        continue;
      }
      if (loaded->diagnostics.empty()) continue;
      terminal.report(Error{ErrorKind::kInvalid, loaded->diagnostics}, loaded->sources);
      const bool bad =
          std::any_of(loaded->diagnostics.begin(), loaded->diagnostics.end(),
                      [](const Diagnostic& d) { return d.severity == Severity::kError; });
      if (bad) status = std::max(status, exit_status(ErrorKind::kInvalid));
    }
    return status;
  }

 private:
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Verb> make_verify_verb() { return std::make_unique<VerifyVerb>(); }

}  // namespace hostir::cli
