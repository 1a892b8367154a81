// Command-line options of a verb, declared by binding them to variables.
//
// A narrow face of CLI11, so that only one file compiles it. Declared targets must outlive parsing.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace hostir::cli {

/// What a number may be; the message names both ends where they are not the obvious ones.
struct Range {
  int64_t least = 0;
  int64_t most = INT64_MAX;
};

enum class Presence : uint8_t { kOptional, kRequired };

/// What a verb accepts. Names are as typed: "--mesh", "-j,--jobs".
class Arguments {
 public:
  void flag(const std::string& names, bool& target, const std::string& help);
  void option(const std::string& names, std::string& target, const std::string& help);
  void option(const std::string& names, std::optional<std::string>& target,
              const std::string& help);
  /// Integers count something: none is negative unless the range says so.
  void option(const std::string& names, int64_t& target, const std::string& help, Range range = {});
  void option(const std::string& names, std::optional<int64_t>& target, const std::string& help,
              Range range = {});
  /// Tolerances: finite and not negative.
  void option(const std::string& names, double& target, const std::string& help);
  void option(const std::string& names, std::optional<double>& target, const std::string& help);
  /// May be given any number of times.
  void repeated(const std::string& names, std::vector<std::string>& target,
                const std::string& help);
  /// One of a few words.
  void choice(const std::string& names, std::string& target, std::vector<std::string> words,
              const std::string& help);
  void choice(const std::string& names, std::optional<std::string>& target,
              std::vector<std::string> words, const std::string& help);
  void positional(const std::string& name, std::string& target, const std::string& help,
                  Presence presence = Presence::kRequired);
  void positionals(const std::string& name, std::vector<std::string>& target,
                   const std::string& help, Presence presence = Presence::kRequired);
  /// Everything from the first word that is no option of this verb on, options included.
  void rest(std::vector<std::string>& target);

 private:
  friend class CommandLine;
  explicit Arguments(void* app) : app_(app) {}
  void* app_;  // CLI::App of the verb
};

}  // namespace hostir::cli
