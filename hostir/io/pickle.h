// Reads pickles of plain data, as torch's C++ pickler writes Flight Recorder dumps, and of tensors,
// as torch.save() writes them.
//
// Supports the opcodes of numbers, strings, lists, tuples, dictionaries and the memo, of protocols
// 2 to 5. In plain data all other opcodes are rejected by name, in particular GLOBAL and REDUCE.
// When tensors are read, a few names that rebuild tensors are accepted. Their calls are recorded,
// never made: a file cannot execute anything. Memory use is bounded by the size of the file.
#pragma once

#include <string_view>

#include "hostir/io/plain_value.h"

namespace hostir::io {

/// True if the bytes begin like a pickle (opcode PROTO, protocol 2 to 5).
bool looks_like_pickle(std::string_view bytes);

enum class PickleContent : uint8_t {
  kPlain,
  kTensors,  // a name is a text `module.name`; a call is the tuple (name, arguments); a storage is
             // the tuple that identifies it; the state of an object is dropped
};

/// Errors: `pickle_opcode` (an opcode that is not plain data, or a name that rebuilds no tensor,
/// with its position), `pickle_format` (truncated, or an inconsistent stack), `plain_data`.
Expected<PlainTree> read_pickle(std::string_view bytes,
                                PickleContent content = PickleContent::kPlain);

}  // namespace hostir::io
