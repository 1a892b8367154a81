#include "hostir/cli/command_line.h"
#include "hostir/cli/verbs/verbs.h"

namespace hostir::cli {

namespace {

class CompletionVerb : public Verb {
 public:
  std::string_view name() const override { return "completion"; }
  std::string_view summary() const override { return "Print the completion script of a shell"; }
  std::string_view example() const override {
    return "  source <(hostir completion bash)      in ~/.bashrc\n"
           "  source <(hostir completion zsh)       in ~/.zshrc";
  }
  void declare(Arguments& arguments) override {
    arguments.positional("shell", shell_, "bash or zsh");
  }
  std::vector<std::string> first_words() const override { return {"bash", "zsh"}; }
  int execute(Terminal& terminal) override {
    if (shell_ != "bash" && shell_ != "zsh") {
      return terminal.report(
          fail(ErrorKind::kUsage, "usage", "completion takes bash or zsh, not \"" + shell_ + "\"")
              .value());
    }
    // zsh runs bash's completion functions.
    if (shell_ == "zsh") terminal.print("autoload -U +X bashcompinit && bashcompinit\n");
    terminal.print(bash_completion());
    return 0;
  }

 private:
  std::string shell_;
};

}  // namespace

std::unique_ptr<Verb> make_completion_verb() { return std::make_unique<CompletionVerb>(); }

}  // namespace hostir::cli
