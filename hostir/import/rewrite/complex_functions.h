// Functions of complex numbers in operations on their real and imaginary parts.
#pragma once

#include <optional>
#include <string_view>

#include "hostir/import/rewrite/op_builder.h"

namespace hostir::importer {

struct ComplexPair {
  ValueNumber re = 0;
  ValueNumber im = 0;
};

/// |z|^2 and |z|.
ValueNumber square_size(OpBuilder& b, ComplexPair z);
ValueNumber size_of(OpBuilder& b, ComplexPair z);

/// The result of a pointwise operation on one or two complex numbers; nullopt if it has no formula
/// here.
std::optional<ComplexPair> complex_function(OpBuilder& b, std::string_view name, ComplexPair x);
std::optional<ComplexPair> complex_function(OpBuilder& b, std::string_view name, ComplexPair x,
                                            ComplexPair y);

}  // namespace hostir::importer
