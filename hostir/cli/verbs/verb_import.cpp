#include "hostir/api/open/program_file.h"
#include "hostir/cli/declare_options.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/io/files.h"

namespace hostir::cli {

namespace {

class ImportVerb : public Verb {
 public:
  std::string_view name() const override { return "import"; }
  std::string_view summary() const override {
    return "Translate a program of another compiler to .hir";
  }
  std::string_view example() const override {
    return "  hostir import f.mlir -o f.hir      StableHLO with Shardy, as "
           "jax.jit(f).lower(..).as_text() prints it\n"
           "  hostir import compiled.hlo         scheduled HLO, as lowered.compile().as_text() "
           "prints it\n"
           "Operations without a counterpart are named at their place. run, lower, verify, debug "
           "and gui\n"
           "take such files directly.";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("file", path_, "StableHLO or HLO text, or - for standard input");
    arguments.option("-o,--output", output_,
                     "the `.hir` file to write; standard output without it");
    declare_loop_passes(loop_passes_, arguments);
  }
  int execute(Terminal& terminal) override {
    const auto loaded = api::load_file(path_, {.loop_passes = loop_passes_});
    if (!loaded) return terminal.report(loaded.error());
    if (!loaded->parsed) {
      return terminal.report(Error{ErrorKind::kInvalid, loaded->diagnostics}, loaded->sources);
    }
    if (!loaded->imported) {
      return terminal.report(
          Error{ErrorKind::kUsage,
                {{Severity::kError,
                  "usage",
                  path_ + " is neither StableHLO nor HLO; a .hir file needs no import",
                  {},
                  {}}}});
    }
    if (!loaded->import_notes.empty()) terminal.note(loaded->import_notes);
    const std::string text(loaded->sources.text(0));
    if (output_.empty()) {
      terminal.print(text);
      return 0;
    }
    const auto written = io::write_file(output_, text);
    return written ? 0 : terminal.report(written.error());
  }

 private:
  std::string path_;
  std::string output_;
  std::optional<int64_t> loop_passes_;
};

}  // namespace

std::unique_ptr<Verb> make_import_verb() { return std::make_unique<ImportVerb>(); }

}  // namespace hostir::cli
