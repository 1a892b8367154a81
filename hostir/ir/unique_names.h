// Names not used yet in a function that is being built.
//
// Function::unique_name() looks at every value, which is right for one name; a pass that makes
// thousands keeps this beside the function. It gives the same names: `stem`, `stem_1`, ... Every
// value added to the function must be told to it, by fresh() or by add().
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "hostir/ir/program.h"

namespace hostir {

class UniqueNames {
 public:
  UniqueNames() = default;
  /// Knows the names of all values of `function`.
  explicit UniqueNames(const Function& function);

  void add(const std::string& name) { taken_.insert(name); }
  bool has(const std::string& name) const { return taken_.count(name) != 0; }
  /// A free name, taken from now on.
  std::string fresh(std::string_view stem);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // by stem: all numbers below are taken
};

}  // namespace hostir
