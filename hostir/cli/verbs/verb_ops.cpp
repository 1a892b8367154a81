#include "hostir/cli/verbs/verbs.h"
#include "hostir/ops/record.h"
#include "hostir/ops/table.h"
#include "hostir/text/suggest.h"

namespace hostir::cli {

namespace {

class OpsVerb : public Verb {
 public:
  std::string_view name() const override { return "ops"; }
  std::string_view summary() const override { return "The table of ops, or the record of one"; }
  std::string_view example() const override {
    return "  hostir ops                      all ops, one line each\n"
           "  hostir ops linear               shapes, sharding rule, constraints, example\n"
           "  hostir ops --format markdown    the table of the README";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("op", op_, "a mnemonic, e.g. matmul", Presence::kOptional);
    arguments.choice("--format", format_, {"text", "markdown"}, "format of the table");
  }
  std::vector<std::string> first_words() const override {
    std::vector<std::string> mnemonics;
    for (size_t i = 0; i < kOpCount; ++i)
      mnemonics.emplace_back(record(static_cast<OpKind>(i)).mnemonic);
    return mnemonics;
  }
  int execute(Terminal& terminal) override {
    if (op_.empty()) {
      terminal.print(
          ops_table(format_ == "markdown" ? TableFormat::kMarkdown : TableFormat::kText));
      return 0;
    }
    const auto kind = find_op(op_);
    if (!kind) {
      auto error =
          fail(ErrorKind::kUsage, "usage", "no op is called \"" + op_ + "\"; see `hostir ops`");
      text::suggest(error.value().diagnostics.front(), op_, first_words());
      return terminal.report(error.value());
    }
    terminal.print(op_documentation(*kind));
    return 0;
  }

 private:
  std::string op_;
  std::string format_ = "text";
};

}  // namespace

std::unique_ptr<Verb> make_ops_verb() { return std::make_unique<OpsVerb>(); }

}  // namespace hostir::cli
