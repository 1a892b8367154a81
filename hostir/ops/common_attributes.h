// Attributes that every instruction may have; no record lists them.
#pragma once

#include <span>
#include <string_view>

#include "hostir/ops/record.h"

namespace hostir {

/// `label = "text"`, a name for breakpoints; `recompute = true`, in a fusion: its gradient computes
/// the results again instead of keeping them.
std::span<const AttributeSpec> common_attributes();

/// An attribute of the op, or one that every instruction may have; else nullptr.
const AttributeSpec* find_any_attribute_spec(const OpRecord& op, std::string_view name);

}  // namespace hostir
