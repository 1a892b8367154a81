// Faults in words: what a person reads where scripts and logs have an id.
#pragma once

#include <string>
#include <string_view>

namespace hostir::interp {

/// `collective_mismatch` is "mismatch", `race_raw` "race (read after write)", `use_after_free`
/// "use after free"; an id without words of its own has spaces for its underscores.
std::string fault_words(std::string_view kind);

}  // namespace hostir::interp
