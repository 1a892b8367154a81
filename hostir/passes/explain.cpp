#include "hostir/passes/explain.h"

#include <fmt/core.h>

namespace hostir {

Explanation about(const Explanation& all, std::string_view value) {
  Explanation out;
  for (const ExplainRecord& r : all) {
    if (r.value == value) out.push_back(r);
  }
  return out;
}

std::string to_string(const Explanation& records) {
  std::string out;
  for (const ExplainRecord& r : records) {
    out += fmt::format("{}: %{} {}: {}", r.pass, r.value, r.what, r.sentence);
    if (!r.from.empty()) out += fmt::format(" (from {})", r.from);
    out += '\n';
  }
  return out;
}

}  // namespace hostir
