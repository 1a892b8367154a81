// User-facing names of faults, where scripts and logs use ids.
#pragma once

#include <string>
#include <string_view>

namespace hostir::interp {

/// `collective_mismatch` is "mismatch", `race_raw` "race (read after write)", `use_after_free` "use
/// after free". Other ids are shown with spaces for underscores.
std::string fault_name(std::string_view kind);

/// True for faults that a missing wait causes: a race, or a free or a host's read that comes too
/// early. The fault's first two instructions are the accesses that nothing orders.
bool is_race(std::string_view kind);

}  // namespace hostir::interp
