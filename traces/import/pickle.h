// Reads pickles of plain data only, as torch's C++ pickler writes Flight Recorder dumps.
//
// Supports the opcodes of numbers, strings, lists, tuples, dictionaries and the memo, of protocols
// 2 to 5. All other opcodes are rejected by name, in particular GLOBAL and REDUCE: a file cannot
// name a function, so it cannot execute anything. Memory use is bounded by the size of the file.
#pragma once

#include <string_view>

#include "traces/import/plain_value.h"

namespace hostir::traces::import {

/// True if the bytes begin like a pickle (opcode PROTO, protocol 2 to 5).
bool looks_like_pickle(std::string_view bytes);

/// Errors: `pickle_opcode` (an opcode that is not plain data, with its name and position),
/// `pickle_format` (truncated, or an inconsistent stack), `plain_data`.
Expected<PlainTree> read_pickle(std::string_view bytes);

}  // namespace hostir::traces::import
