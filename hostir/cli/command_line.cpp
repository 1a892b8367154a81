#include "hostir/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "hostir/cli/terminal.h"
#include "hostir/cli/verbs/remote_log.h"
#include "hostir/cli/verbs/verb.h"
#include "hostir/support/number_from.h"

namespace hostir::cli {

namespace {

CLI::App& app_of(void* app) { return *static_cast<CLI::App*>(app); }

constexpr int kUsageStatus = 64;

// Validators for CLI11: return an empty string if the text is valid, else the error.
std::function<std::string(const std::string&)> integer_in(Range range) {
  return [range](const std::string& text) -> std::string {
    const auto value = number_from<int64_t>(text);
    if (value && *value >= range.least && *value <= range.most) return {};
    std::string wanted = "takes a whole number from " + std::to_string(range.least);
    if (range.most != INT64_MAX) wanted += " to " + std::to_string(range.most);
    return wanted + ", not " + text;
  };
}

std::string tolerance_text(const std::string& text) {
  const auto value = number_from<double>(text);
  if (value && std::isfinite(*value) && *value >= 0) return {};
  return "takes a number that is not negative, as in 1e-5, not " + text;
}
constexpr const char* kVersion = "hostir " HOSTIR_VERSION;

// The words that a choice allows: CLI11 shows them in the type, as in `TEXT:{sim,cuda}`.
std::string words_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t begin = type.find('{');
  const size_t end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  std::string words = type.substr(begin + 1, end - begin - 1);
  for (char& c : words) c = c == ',' ? ' ' : c;
  return words;
}

// The lines of `case $verb` and `case $verb:$previous`.
struct Cases {
  std::string verbs;
  std::string options;
  std::string values;
};

void add_verb(const CLI::App& app, Cases& cases) {
  const std::string& verb = app.get_name();
  std::string options;
  for (const CLI::Option* option : app.get_options()) {
    const std::string words = words_of(*option);
    for (const std::string& name : option->get_lnames()) {
      options += " --" + name;
      if (!words.empty())
        cases.values += fmt::format("    {}:--{}) words=\"{}\" ;;\n", verb, name, words);
    }
  }
  cases.verbs += " " + verb;
  cases.options += fmt::format("    {}) words=\"{}\" ;;\n", verb, options);
}

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
void Arguments::option(const std::string& names, int64_t& target, const std::string& help,
                       Range range) {
  app_of(app_).add_option(names, target, help)->capture_default_str()->check(integer_in(range));
}
void Arguments::option(const std::string& names, std::optional<int64_t>& target,
                       const std::string& help, Range range) {
  app_of(app_).add_option(names, target, help)->check(integer_in(range));
}
void Arguments::option(const std::string& names, double& target, const std::string& help) {
  app_of(app_).add_option(names, target, help)->capture_default_str()->check(tolerance_text);
}
void Arguments::option(const std::string& names, std::optional<double>& target,
                       const std::string& help) {
  app_of(app_).add_option(names, target, help)->check(tolerance_text);
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
void Arguments::choice(const std::string& names, std::optional<std::string>& target,
                       std::vector<std::string> words, const std::string& help) {
  app_of(app_).add_option(names, target, help)->check(CLI::IsMember(std::move(words)));
}
void Arguments::positional(const std::string& name, std::string& target, const std::string& help,
                           Presence presence) {
  app_of(app_).add_option(name, target, help)->required(presence == Presence::kRequired);
}
void Arguments::positionals(const std::string& name, std::vector<std::string>& target,
                            const std::string& help, Presence presence) {
  app_of(app_).add_option(name, target, help)->required(presence == Presence::kRequired);
}

void Arguments::rest(std::vector<std::string>& target) {
  CLI::App& app = app_of(app_);
  app.prefix_command(true);
  app.parse_complete_callback([&app, &target] { target = app.remaining(); });
}

class CommandLine {
 public:
  CommandLine() : app_("hostir: write, lower, run, step and understand multi-GPU tensor programs") {
    app_.set_version_flag("--version", kVersion);
    app_.require_subcommand(1);
    app_.footer(
        "Exit status:\n  0   ok\n  1   an expectation failed, or a comparison found differences\n  "
        "2   a text does not parse or verify\n  3   failed while running: a file, a shape, memory, "
        "a race\n  4   deadlock, or mismatched collectives\n  5   verify --against: neither proven "
        "nor refuted\n  64  wrong usage\nEvery verb has --help with an example. Documentation: "
        "README.md");
    verbs_ = make_verbs();
    for (const auto& verb : verbs_) {
      CLI::App* sub = app_.add_subcommand(std::string(verb->name()), std::string(verb->summary()));
      sub->footer("Examples:\n" + std::string(verb->example()));
      Arguments arguments(sub);
      verb->declare(arguments);
    }
  }

  int run(int argc, const char* const* argv) {
    // `hostir help` and `hostir help run`, as in git.
    const bool help = argc > 1 && std::string_view(argv[1]) == "help";
    const char* const asked[] = {argv[0], argc > 2 ? argv[2] : "--help", "--help"};
    if (help) {
      const bool about_verb = argc > 2 && is_verb(argv[2]);
      argc = about_verb ? 3 : 2;  // unknown verb: the error lists the verbs
      argv = asked;
    }
    std::vector<std::string> words(argv, argv + argc);
    RemoteLogs remote;
    if (const auto fetched = remote.fetch(words); !fetched)
      return Terminal().report(fetched.error());
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    try {
      app_.parse(argc, arguments.data());
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

  // Completion of verbs, options, words of choices, functions of the file, and files.
  std::string completion() const {
    Cases cases;
    for (const CLI::App* verb : app_.get_subcommands({})) add_verb(*verb, cases);
    for (const auto& verb : verbs_) {
      if (verb->first_words().empty()) continue;
      cases.values += fmt::format("    {0}:{0}) words=\"{1}\" ;;\n", verb->name(),
                                  fmt::join(verb->first_words(), " "));
    }
    cases.values += "    help:help) words=\"" + cases.verbs + "\" ;;\n";
    return "# Completion of hostir for bash: source <(hostir completion bash)\n"
           "_hostir() {\n"
           "  local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]} words=\n"
           "  local previous=${COMP_WORDS[COMP_CWORD-1]}\n"
           "  COMPREPLY=()\n"
           "  if ((COMP_CWORD == 1)); then\n"
           "    COMPREPLY=($(compgen -W \"" +
           cases.verbs +
           " help\" -- \"$word\"))\n"
           "    return\n"
           "  fi\n"
           "  case $verb:$previous in\n" +
           cases.values +
           "  esac\n"
           "  if [[ -z $words && $word == @* ]]; then  # functions of the file\n"
           "    words=$(sed -nE 's/^(fusion|host|gradient) (@[A-Za-z0-9_.]+).*/\\2/p' "
           "\"${COMP_WORDS[2]}\" 2>/dev/null)\n"
           "  elif [[ -z $words && $word == -* ]]; then\n"
           "    case $verb in\n" +
           cases.options +
           "    esac\n"
           "  fi\n"
           "  if [[ -n $words ]]; then\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "  else\n"
           "    COMPREPLY=($(compgen -f -- \"$word\"))\n"
           "  fi\n"
           "}\n"
           "complete -o filenames -F _hostir hostir\n";
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

std::string bash_completion() { return CommandLine().completion(); }

int run_command_line(int argc, const char* const* argv) {
  // Only CLI11's exceptions and bad_alloc can reach this point.
  try {
    return CommandLine().run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error[internal]: %s\n", error.what());
    return 3;
  }
}

}  // namespace hostir::cli
