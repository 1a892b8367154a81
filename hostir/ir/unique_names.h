// Fresh value names for a function under construction.
//
// Function::unique_name() scans all values, which is fine for one name. A pass that creates
// thousands of names uses this class, which gives the same names: `stem`, `stem_1`, ... Every name
// added to the function must come from fresh() or be registered with add().
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
  /// Starts with the names of all values in `function`.
  explicit UniqueNames(const Function& function);

  void add(const std::string& name) { taken_.insert(name); }
  bool has(const std::string& name) const { return taken_.count(name) != 0; }
  /// Reserves and returns an unused name.
  std::string fresh(std::string_view stem);

 private:
  std::unordered_set<std::string> taken_;
  std::unordered_map<std::string, int> next_;  // by stem; all lower numbers are taken
};

}  // namespace hostir
