// Replaces the symbolic sizes of a function by their numbers.
#pragma once

#include <optional>

#include "hostir/ir/program.h"

namespace hostir {

/// Replaces sizes in the types and attributes of `function`, in place; names that `sizes` does not
/// bind stay.
void bind_function(Function& function, const SizeBindings& sizes);

/// The same for one type, and for the attributes of one instruction, with any known leaves.
void bind_type(Type& type, const IndexExpr::Lookup& known);
void bind_attributes(Instruction& instruction, const IndexExpr::Lookup& known);

/// A size that an attribute of `function` mentions, without `?`; nullopt if there is none.
std::optional<std::string> size_in_attributes(const Function& function);

}  // namespace hostir
