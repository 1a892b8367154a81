// Replaces the symbolic sizes of a function by their numbers.
#pragma once

#include <optional>

#include "hostir/ir/program.h"

namespace hostir {

/// Replaces sizes in the types and attributes of `function`, in place; names that `sizes` does not
/// bind stay.
void bind_function(Function& function, const SizeBindings& sizes);

/// A size that an attribute of `function` mentions, without `?`; nullopt if there is none.
std::optional<std::string> size_in_attributes(const Function& function);

}  // namespace hostir
