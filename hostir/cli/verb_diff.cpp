#include "hostir/cli/verbs.h"
#include "traces/diff.h"

namespace hostir::cli {

namespace {

class DiffVerb : public Verb {
 public:
  std::string_view name() const override { return "diff"; }
  std::string_view summary() const override {
    return "Compare two logs: structure first, then values";
  }
  std::string_view example() const override {
    return "  hostir diff a.db b.db                     exit status 1 and one line per difference\n"
           "  hostir diff a.db b.db --rtol 1e-5         where the logs hold the contents "
           "(--trace-values data=*)";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("a", a_, "a log");
    arguments.positional("b", b_, "another one");
    arguments.option("--atol", options_.atol, "absolute tolerance");
    arguments.option("--rtol", options_.rtol, "relative tolerance");
  }
  int execute(Terminal& terminal) override {
    const auto status = compare(terminal);
    return status ? *status : terminal.report(status.error());
  }

 private:
  Expected<int> compare(Terminal& terminal) const {
    HOSTIR_ASSIGN_OR_RETURN(const auto a, traces::open_log(a_));
    HOSTIR_ASSIGN_OR_RETURN(const auto b, traces::open_log(b_));
    HOSTIR_ASSIGN_OR_RETURN(const traces::DiffReport report, traces::diff(*a, *b, options_));
    terminal.print(traces::to_string(report));
    return report.findings.empty() ? 0 : 1;
  }

  std::string a_;
  std::string b_;
  traces::DiffOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_diff_verb() { return std::make_unique<DiffVerb>(); }

}  // namespace hostir::cli
