#include <fstream>
#include <iostream>
#include <sstream>

#include "hostir/api/open/open_session.h"
#include "hostir/cli/debug/debug_repl.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/verbs.h"

namespace hostir::cli {

namespace {

class DebugVerb : public Verb {
 public:
  std::string_view name() const override { return "debug"; }
  std::string_view summary() const override {
    return "Step a program or a log in the terminal, both directions";
  }
  std::string_view example() const override {
    return "  hostir debug tests/programs/deadlock.hir         then: break all_reduce, continue, "
           "info waits, help\n"
           "  hostir debug run.db                              a recorded run, stepped again\n"
           "  hostir debug tests/programs/pipeline_by_hand.hir -x commands.txt\n"
           "  hostir debug tests/programs/deadlock.hir --ex continue --ex 'info waits'";
  }
  void declare(Arguments& arguments) override {
    declare_program(options_.program, arguments);
    declare_gradient(options_.program, arguments);
    declare_inputs(options_.program, arguments);
    declare_backend(options_.backend, arguments);
    arguments.option("-x", script_, "take commands from a file and print them, then end");
    arguments.repeated("--ex", commands_,
                       "take a command, as in gdb -batch -ex; those of -x follow");
    arguments.option("--trace", options_.log_path, "keep the session's log in this file");
    arguments.choice("--trace-values", options_.values, {"none", "digest", "stats"},
                     "what to keep of written tensors; NaN breakpoints need stats");
  }
  int execute(Terminal& terminal) override {
    std::stringstream script;
    for (const std::string& command : commands_) script << command << "\n";
    if (!script_.empty()) {
      std::ifstream file(script_);
      if (!file)
        return terminal.report(
            fail(ErrorKind::kRuntime, "file_open", script_ + ": cannot be read").value());
      if (file.peek() != std::ifstream::traits_type::eof()) script << file.rdbuf();
    }
    const bool interactive = script_.empty() && commands_.empty();
    interp::OpenRequest request;
    request.path = options_.program.path;
    api::SessionOpener factory(options_);
    const auto session = factory.open(request);
    if (!session) return terminal.report(session.error(), factory.sources());
    if (!factory.notice().empty()) terminal.note(factory.notice());
    ReplOptions repl;
    if (interactive)
      repl.editing = ReplOptions::Editing::kOnTerminal;
    else
      repl.echo = ReplOptions::Echo::kYes;
    return debug_repl(**session, interactive ? std::cin : static_cast<std::istream&>(script),
                      terminal.stream(), repl);
  }

 private:
  api::SessionOptions options_{.program = {},
                               .backend = {},
                               .log_path = {},
                               .values = "stats",
                               .missing_inputs = api::SessionOptions::MissingInputs::kMakeUp};
  std::string script_;
  std::vector<std::string> commands_;
};

}  // namespace

std::unique_ptr<Verb> make_debug_verb() { return std::make_unique<DebugVerb>(); }

}  // namespace hostir::cli
