// Command-line options of a verb, declared by binding them to variables.
//
// A small wrapper around CLI11, so that only one file includes it. Targets must outlive parsing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hostir::cli {

/// The valid range of a number. The error message names both ends unless they are the defaults.
struct Range {
  int64_t least = 0;
  int64_t most = INT64_MAX;
};

enum class Presence : uint8_t { kOptional, kRequired };

/// The arguments that a verb accepts. Names are as typed: "--mesh", "-j,--jobs".
class Arguments {
 public:
  void flag(const std::string& names, bool& target, const std::string& help);
  void option(const std::string& names, std::string& target, const std::string& help);
  void option(const std::string& names, std::optional<std::string>& target,
              const std::string& help);
  /// An integer. The default range excludes negative numbers.
  void option(const std::string& names, int64_t& target, const std::string& help, Range range = {});
  void option(const std::string& names, std::optional<int64_t>& target, const std::string& help,
              Range range = {});
  /// A tolerance: finite and not negative.
  void option(const std::string& names, double& target, const std::string& help);
  void option(const std::string& names, std::optional<double>& target, const std::string& help);
  /// An option that may be repeated.
  void repeated(const std::string& names, std::vector<std::string>& target,
                const std::string& help);
  /// One of a fixed set of words.
  void choice(const std::string& names, std::string& target, std::vector<std::string> words,
              const std::string& help);
  void choice(const std::string& names, std::optional<std::string>& target,
              std::vector<std::string> words, const std::string& help);
  void positional(const std::string& name, std::string& target, const std::string& help,
                  Presence presence = Presence::kRequired);
  void positionals(const std::string& name, std::vector<std::string>& target,
                   const std::string& help, Presence presence = Presence::kRequired);
  /// All words, including options, from the first one that is not an option of this verb.
  void rest(std::vector<std::string>& target);

 private:
  friend class CommandLine;
  explicit Arguments(void* app) : app_(app) {}
  void* app_;  // the verb's CLI::App
};

}  // namespace hostir::cli
