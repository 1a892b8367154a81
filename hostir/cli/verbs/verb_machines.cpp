#include <fmt/core.h>

#include "hostir/api/check/calibrate.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/support/text.h"
#include "hostir/text/print/printer.h"

namespace hostir::cli {

namespace {

class MachinesVerb : public Verb {
 public:
  std::string_view name() const override { return "machines"; }
  std::string_view summary() const override {
    return "Machine descriptions that `sim` takes times from; measure one";
  }
  std::string_view example() const override {
    return "  hostir machines             all of them, in the text form that a file may hold\n"
           "  hostir machines h200x8      one\n"
           "  hostir machines calibrate --backend cuda > here.hir      measure this computer's "
           "GPU; "
           "predicted and measured times as comments";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("name", machine_, "a built-in machine, or `calibrate`",
                         Presence::kOptional);
    declare_backend(backend_, arguments);
    arguments.option("--name", options_.name, "calibrate: name of the measured machine");
    arguments.option("--largest", options_.largest,
                     "calibrate: the largest dimension (8192); the other sizes are fractions of it",
                     {.least = 16, .most = 1 << 16});
  }
  int execute(Terminal& terminal) override {
    if (machine_ == "calibrate") {
      const auto status = calibrate(terminal);
      return status ? *status : terminal.report(status.error());
    }
    if (!machine_.empty() && !find_builtin_machine(machine_)) {
      const auto error =
          fail(ErrorKind::kUsage, "usage", "no machine is called \"" + machine_ + "\"");
      return terminal.report(error.value());
    }
    bool first = true;
    for (const Machine& m : builtin_machines()) {
      if (!machine_.empty() && m.name != machine_) continue;
      if (!first) terminal.print("\n");
      print(terminal, m);
      first = false;
    }
    return 0;
  }

 private:
  static void print(Terminal& terminal, const Machine& machine) {
    Program program;
    program.add_machine(machine);
    terminal.print(text::print(program, {.machine_fields = text::MachineFields::kAll}));
  }

  Expected<int> calibrate(Terminal& terminal) {
    HOSTIR_ASSIGN_OR_RETURN(options_.backend, backend_.request(Program{}));
    HOSTIR_ASSIGN_OR_RETURN(const api::Calibration found, api::calibrate(options_));
    terminal.print(
        fmt::format("// {:32} {:>12} {:>12} {:>7}\n", "kernel", "measured", "predicted", "error"));
    for (const bool fitted : {true, false}) {
      for (const api::CalibrationPoint& point : found.points) {
        if (point.fitted != fitted) continue;
        terminal.print(fmt::format("// {:32} {:>12} {:>12} {:>6.1f}%{}\n", point.what,
                                   time_text(point.measured_ns), time_text(point.predicted_ns),
                                   (point.predicted_ns / point.measured_ns - 1) * 100,
                                   fitted ? "  fitted" : ""));
      }
    }
    for (const std::string& text : found.not_measured) {
      terminal.print(fmt::format("// not measured: {}\n", text));
    }
    terminal.print(fmt::format(
        "// geometric mean error: {:.1f} % of the fitted sizes, {:.1f} % of the others; "
        "links and collectives are those of {}\n",
        mean_error(found, true) * 100, mean_error(found, false) * 100,
        options_.backend.machine.name));
    print(terminal, found.machine);
    return 0;
  }

  std::string machine_;
  api::BackendOptions backend_;
  api::CalibrationOptions options_;
};

}  // namespace

std::unique_ptr<Verb> make_machines_verb() { return std::make_unique<MachinesVerb>(); }

}  // namespace hostir::cli
