// Pickles that hold plain data only, as torch's C++ pickler writes Flight Recorder dumps.
//
// Known are the opcodes of numbers, texts, lists, tuples, dictionaries and the memo, of protocols
// 2 to 5. Every other opcode is refused by name, GLOBAL and REDUCE above all: nothing in a file can
// name a function, so nothing in a file can run. No memory is reserved that the file does not have.
#pragma once

#include <string_view>

#include "traces/import/plain_value.h"

namespace hostir::traces::import {

/// True where the bytes begin as a pickle does (opcode PROTO, protocol 2 to 5).
bool looks_like_pickle(std::string_view bytes);

/// Errors: `pickle_opcode` (one that is not plain data, named, with its place), `pickle_format`
/// (cut, a stack that does not fit), `plain_data`.
Expected<PlainTree> read_pickle(std::string_view bytes);

}  // namespace hostir::traces::import
