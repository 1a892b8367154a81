#include <fmt/core.h>

#include "hostir/cli/verbs.h"
#include "hostir/text/printer.h"

namespace hostir::cli {

namespace {

class MachinesVerb : public Verb {
 public:
  std::string_view name() const override { return "machines"; }
  std::string_view summary() const override {
    return "Machine descriptions that `sim` takes times from";
  }
  std::string_view example() const override {
    return "  hostir machines             all of them, in the text form that a file may hold\n"
           "  hostir machines h200x8      one";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("name", machine_, "a built-in machine", Presence::kOptional);
  }
  int execute(Terminal& terminal) override {
    if (!machine_.empty() && !find_builtin_machine(machine_)) {
      const auto error =
          fail(ErrorKind::kUsage, "usage", "no machine is called \"" + machine_ + "\"");
      return terminal.report(error.value());
    }
    bool first = true;
    for (const Machine& m : builtin_machines()) {
      if (!machine_.empty() && m.name != machine_) continue;
      Program program;
      program.add_machine(m);
      terminal.print((first ? "" : "\n") +
                     text::print(program, {.machine_fields = text::MachineFields::kAll}));
      first = false;
    }
    return 0;
  }

 private:
  std::string machine_;
};

}  // namespace

std::unique_ptr<Verb> make_machines_verb() { return std::make_unique<MachinesVerb>(); }

}  // namespace hostir::cli
