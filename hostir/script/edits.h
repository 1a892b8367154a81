// Text edits of a script for `test --update`: only the failed parts change.
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

/// Applies edits, given in any order; of overlapping edits the first in the list wins.
std::string apply_edits(const std::string& text, std::vector<Edit> edits);

}  // namespace hostir::script
