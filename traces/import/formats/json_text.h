// Reads JSON as plain data, within the limits of plain_value.h.
//
// Integers stay exact: unsigned 64-bit numbers that do not fit become strings of digits.
#pragma once

#include <string_view>

#include "hostir/io/plain_value.h"

namespace hostir::traces::import {

/// Errors: `json_format` (with the position), `plain_data`.
Expected<io::PlainTree> read_json(std::string_view text);

/// True if the text, which may be cut, begins like a JSON object.
bool begins_like_object(std::string_view text);

}  // namespace hostir::traces::import
