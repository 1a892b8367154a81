#include "hostir/cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>

#include "hostir/cli/verb.h"

namespace hostir::cli {

namespace {

CLI::App& app_of(void* app) { return *static_cast<CLI::App*>(app); }

constexpr int kUsageStatus = 64;
constexpr const char* kVersion = "hostir " HOSTIR_VERSION;

}  // namespace

void Arguments::flag(const std::string& names, bool& target, const std::string& help) {
  app_of(app_).add_flag(names, target, help);
}
void Arguments::option(const std::string& names, std::string& target, const std::string& help) {
  app_of(app_).add_option(names, target, help)->capture_default_str();
}
void Arguments::option(const std::string& names, std::optional<std::string>& target,
                       const std::string& help) {
  app_of(app_).add_option(names, target, help);
}
void Arguments::option(const std::string& names, int64_t& target, const std::string& help) {
  app_of(app_)
      .add_option(names, target, help)
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}
void Arguments::option(const std::string& names, std::optional<int64_t>& target,
                       const std::string& help) {
  app_of(app_).add_option(names, target, help)->check(CLI::NonNegativeNumber);
}
void Arguments::option(const std::string& names, double& target, const std::string& help) {
  app_of(app_).add_option(names, target, help)->capture_default_str();
}
void Arguments::repeated(const std::string& names, std::vector<std::string>& target,
                         const std::string& help) {
  app_of(app_)
      .add_option(names, target, help)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}
void Arguments::choice(const std::string& names, std::string& target,
                       std::vector<std::string> words, const std::string& help) {
  app_of(app_)
      .add_option(names, target, help)
      ->check(CLI::IsMember(std::move(words)))
      ->capture_default_str();
}
void Arguments::positional(const std::string& name, std::string& target, const std::string& help,
                           Presence presence) {
  app_of(app_).add_option(name, target, help)->required(presence == Presence::kRequired);
}
void Arguments::positionals(const std::string& name, std::vector<std::string>& target,
                            const std::string& help, Presence presence) {
  app_of(app_).add_option(name, target, help)->required(presence == Presence::kRequired);
}

class CommandLine {
 public:
  CommandLine() : app_("hostir: write, lower, run, step and understand multi-GPU tensor programs") {
    app_.set_version_flag("--version", kVersion);
    app_.require_subcommand(1);
    app_.footer("Every verb has --help with an example. Documentation: README.md");
    verbs_ = make_verbs();
    for (const auto& verb : verbs_) {
      CLI::App* sub = app_.add_subcommand(std::string(verb->name()), std::string(verb->summary()));
      sub->footer("Examples:\n" + std::string(verb->example()));
      Arguments arguments(sub);
      verb->declare(arguments);
    }
  }

  int run(int argc, const char* const* argv) {
    // `hostir help` and `hostir help run`, as of git.
    const bool help = argc > 1 && std::string_view(argv[1]) == "help";
    const char* const asked[] = {argv[0], argc > 2 ? argv[2] : "--help", "--help"};
    if (help) {
      const bool about_verb = argc > 2 && is_verb(argv[2]);
      argc = about_verb ? 3 : 2;  // of a verb that is none: the error that names the verbs
      argv = asked;
    }
    try {
      app_.parse(argc, argv);
    } catch (const CLI::Success& success) {  // --help, --version
      return app_.exit(success);
    } catch (const CLI::ParseError& error) {
      return usage_error(error, argc, argv);
    }
    Terminal terminal;
    int status = kUsageStatus;
    for (const auto& verb : verbs_) {
      if (app_.got_subcommand(std::string(verb->name()))) status = verb->execute(terminal);
    }
    terminal.end_progress();
    return std::fflush(stdout) == 0 ? status : 3;
  }

 private:
  bool is_verb(std::string_view name) const {
    return std::any_of(verbs_.begin(), verbs_.end(),
                       [&](const auto& v) { return v->name() == name; });
  }
  int usage_error(const CLI::ParseError& error, int argc, const char* const* argv) {
    std::string verb = argc > 1 ? argv[1] : "";
    const bool known = is_verb(verb);
    if (!known && !verb.empty() && verb[0] != '-') {
      std::fprintf(stderr, "error[usage]: unknown verb \"%s\"; verbs are:", verb.c_str());
      for (const auto& v : verbs_) std::fprintf(stderr, " %s", std::string(v->name()).c_str());
      std::fprintf(stderr, "\n");
    } else {
      std::fprintf(stderr, "error[usage]: %s\n", error.what());
      std::fprintf(stderr, "note: see `hostir %s --help`\n", known ? verb.c_str() : "");
    }
    return kUsageStatus;
  }

  std::vector<std::unique_ptr<Verb>> verbs_;
  CLI::App app_;
};

int run_command_line(int argc, const char* const* argv) {
  // The one place where foreign exceptions can come up this far: CLI11's own and bad_alloc.
  try {
    return CommandLine().run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error[internal]: %s\n", error.what());
    return 3;
  }
}

}  // namespace hostir::cli
