// JSON as plain data, within the limits of plain_value.h.
//
// Whole numbers stay exact: those of 64 bits without a sign that do not fit become texts of digits.
#pragma once

#include <string_view>

#include "traces/import/plain_value.h"

namespace hostir::traces::import {

/// Errors: `json_format` (with the place), `plain_data`.
Expected<PlainTree> read_json(std::string_view text);

}  // namespace hostir::traces::import
