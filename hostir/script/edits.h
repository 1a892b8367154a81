// Rewriting parts of a script for `test --update`: only what failed changes, nothing around it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostir::script {

struct Edit {
  uint32_t begin = 0;  // bytes of the file
  uint32_t end = 0;
  std::string text;
};

/// Applies edits in any order; of overlapping ones the first in the list wins.
std::string apply_edits(const std::string& text, std::vector<Edit> edits);

}  // namespace hostir::script
