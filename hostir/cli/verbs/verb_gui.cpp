
#include "hostir/api/open/open_session.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/io/files.h"

#ifdef HOSTIR_HAS_GUI
#include "gui/window/window.h"
#include "hostir/support/number_from.h"
#endif

namespace hostir::cli {

namespace {

class GuiVerb : public Verb {
 public:
  std::string_view name() const override { return "gui"; }
  std::string_view summary() const override {
    return "The workbench: a window on a program or a log";
  }
  std::string_view example() const override {
    return "  hostir gui tests/programs/tp_mlp.hir --input 'x=normal(1, 2x6x24xf32)' ...\n"
           "  hostir gui run.db\n"
           "  hostir gui run.db --compare before.db\n"
           "  hostir gui dumps/              what hostir open reads: dumps of a hang, profiles\n"
           "  hostir gui tests/programs/deadlock.hir --script steps.txt --screenshot out.png "
           "--size 1600x1000";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("file", path_,
                         "a program, a log, or other tools' files; default: the start page",
                         Presence::kOptional);
    arguments.positional("function", options_.program.function, "@f", Presence::kOptional);
    arguments.repeated("--mesh", options_.program.mesh, "resize a mesh axis, e.g. tp=4");
    arguments.option("--ranks", options_.program.ranks, "resize the axis of a mesh that has one");
    declare_inputs(options_.program, arguments);
    declare_backend(options_.backend, arguments);
    arguments.option("--compare", compare_, "a log to compare with, in the Diff panel");
    arguments.option("--script", script_, "drive the window from a file of steps, then close it");
    arguments.option("--screenshot", screenshot_, "write a PNG of the last state");
    arguments.option("--size", size_, "size of the window in pixels: 1600x1000");
    arguments.option("--settings", settings_, "the settings file instead of the user's own");
  }
  int execute(Terminal& terminal) override {
    const auto done = open(terminal);
    return done ? 0 : terminal.report(done.error());
  }

 private:
#ifdef HOSTIR_HAS_GUI
  Expected<void> open(Terminal&) {
    gui::WindowOptions window;
    if (!parse_size(window)) {
      return fail(ErrorKind::kUsage, "usage",
                  "--size takes WIDTHxHEIGHT, as in 1600x1000, not " + size_);
    }
    if (!script_.empty()) {
      HOSTIR_ASSIGN_OR_RETURN(window.script, io::read_file(script_));
    }
    window.screenshot = screenshot_;
    gui::AppOptions app;
    app.open.path = path_;
    app.compare = compare_;
    const bool scripted = !script_.empty() || !screenshot_.empty();
    app.settings_file = !settings_.empty() ? settings_ : scripted ? "" : gui::settings_path();
    api::SessionOpener factory(options_);
    return gui::run_window(factory, std::move(app), window);
  }

  bool parse_size(gui::WindowOptions& window) const {
    const size_t x = size_.find('x');
    if (x == std::string::npos) return false;
    window.width = number_from<int>(std::string_view(size_).substr(0, x)).value_or(0);
    window.height = number_from<int>(std::string_view(size_).substr(x + 1)).value_or(0);
    return window.width >= 200 && window.height >= 150 && window.width <= 16384 &&
           window.height <= 16384;
  }
#else
  Expected<void> open(Terminal&) {
    return fail(ErrorKind::kRuntime, "no_gui",
                "this build has no window: install Dear ImGui, stb, GLFW and OpenGL "
                "(tests/setup.sh) and build "
                "again; `hostir debug` does the same in a terminal");
  }
#endif

  api::SessionOptions options_{.program = {},
                               .backend = {},
                               .log_path = {},
                               .values = "stats",
                               .missing_inputs = api::SessionOptions::MissingInputs::kMakeUp};
  std::string path_;
  std::string compare_;
  std::string script_;
  std::string screenshot_;
  std::string size_ = "1600x1000";
  std::string settings_;
};

}  // namespace

std::unique_ptr<Verb> make_gui_verb() { return std::make_unique<GuiVerb>(); }

}  // namespace hostir::cli
