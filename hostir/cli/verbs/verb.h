// A verb of the command: its name, options and action.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/cli/arguments.h"
#include "hostir/cli/terminal.h"

namespace hostir::cli {

class Verb {
 public:
  virtual ~Verb() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  /// One or more command lines with explanations, printed below the options.
  virtual std::string_view example() const = 0;
  virtual void declare(Arguments& arguments) = 0;
  /// What the first argument may be, if that is a fixed set; shells complete it.
  virtual std::vector<std::string> first_words() const { return {}; }
  /// Runs the verb and returns the exit status: 0 success, 1 failed expectation or differing runs,
  /// 2 invalid program, 3 run-time error, 4 deadlock or mismatch, 64 usage error.
  virtual int execute(Terminal& terminal) = 0;
};

/// All verbs, in the order of the help text.
std::vector<std::unique_ptr<Verb>> make_verbs();

}  // namespace hostir::cli
