#include "hostir/api/open/program_file.h"
#include "hostir/cli/verbs/verbs.h"
#include "hostir/io/files.h"
#include "hostir/text/print/printer.h"

namespace hostir::cli {

namespace {

class FmtVerb : public Verb {
 public:
  std::string_view name() const override { return "fmt"; }
  std::string_view summary() const override { return "Print files in canonical form"; }
  std::string_view example() const override {
    return "  hostir fmt tests/programs/tp_mlp.hir           the canonical text on stdout\n"
           "  hostir fmt -w my.hir                           rewrite the file\n"
           "  hostir fmt --check my.hir                      exit status 1 if it would change\n"
           "Logs, lowering and `fmt` print the canonical form: every result type is written out, "
           "numbers\n"
           "are written as they are stored (1.0 in a float constant), parameters are aligned in a\n"
           "column, and a test's run is one line. Hand-written text may leave types out; it means "
           "the "
           "same.";
  }
  void declare(Arguments& arguments) override {
    arguments.positionals("files", files_, "`.hir` files, or - for standard input");
    arguments.flag("-w,--write", write_, "rewrite the files instead of printing them");
    arguments.flag("--check", check_, "print the names of files that are not canonical");
  }
  int execute(Terminal& terminal) override {
    int status = 0;
    for (const std::string& path : files_) status = std::max(status, one(terminal, path));
    return status;
  }

 private:
  int one(Terminal& terminal, const std::string& path) {
    const auto loaded = api::load_file(path);
    if (!loaded) return terminal.report(loaded.error());
    if (!loaded->parsed) {
      return terminal.report(Error{ErrorKind::kInvalid, loaded->diagnostics}, loaded->sources);
    }
    const std::string text = text::print(loaded->file);
    const bool same = text == loaded->sources.text(0);
    if (check_) {
      if (!same) terminal.print(path + "\n");
      return same ? 0 : 1;
    }
    if (!write_) {
      terminal.print(text);
      return 0;
    }
    if (same) return 0;
    const auto written = io::write_file(path, text);
    return written ? 0 : terminal.report(written.error());
  }

  std::vector<std::string> files_;
  bool write_ = false;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_fmt_verb() { return std::make_unique<FmtVerb>(); }

}  // namespace hostir::cli
