// Globs: `*` matches any text, `?` any one character.
#pragma once

#include <string_view>

namespace hostir {

bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace hostir
