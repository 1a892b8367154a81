// Integer arithmetic as StableHLO defines it, for numbers that are known during the import.
//
// A number is the 64 bits that Tensor::get_int() returns: a u64 of 2^63 or more is negative.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hostir/ir/dtype.h"

namespace hostir::importer {

/// `value` in the integer dtype or i1: the lowest bits.
int64_t narrowed(int64_t value, DType dtype);
/// `a op b` for a binary elementwise operation like "stablehlo.add". nullopt for other operations,
/// for divisions by 0 and -1, and where a u64 beyond int64 decides the result.
std::optional<int64_t> combined(std::string_view op, DType dtype, int64_t a, int64_t b);
/// `a direction b` for a comparison direction like "LT"; nullopt for other words.
std::optional<bool> holds(std::string_view direction, double a, double b);
/// As above for integers, which a double may not hold exactly; nullopt for u64 beyond int64.
std::optional<bool> holds(std::string_view direction, DType dtype, int64_t a, int64_t b);

}  // namespace hostir::importer
