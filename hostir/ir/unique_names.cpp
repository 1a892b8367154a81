#include "hostir/ir/unique_names.h"

namespace hostir {

UniqueNames::UniqueNames(const Function& function) {
  for (const Value& v : function.values) taken_.insert(v.name);
}

std::string UniqueNames::fresh(std::string_view stem) {
  std::string name(stem);
  if (taken_.insert(name).second) return name;
  int& n = next_.try_emplace(name, 1).first->second;
  const std::string prefix = name + "_";
  do name = prefix + std::to_string(n++);
  while (!taken_.insert(name).second);
  return name;
}

}  // namespace hostir
