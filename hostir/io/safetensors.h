// The safetensors format: named tensors after a JSON header, as PyTorch users save weights.
//
// A file is the length of the header (8 bytes), the header, and the data. Reads all dtypes that the
// language has; the header must list ranges that cover the data exactly, without gaps or overlap.
// Nothing in the file is trusted: memory use is bounded by the size of the file.
// Source: huggingface/safetensors, README.md.
#pragma once

#include <span>
#include <string>

#include "hostir/io/npz.h"

namespace hostir::io {

/// All tensors in the order of their data. `__metadata__` is skipped. Errors: `safetensors_format`.
Expected<NamedTensors> parse_safetensors(std::span<const std::byte> bytes);
/// Little endian, row-major, in the given order; the data begins at a multiple of 8 bytes.
std::string format_safetensors(const NamedTensors& tensors);

/// Errors: `file_open`, `file_read`, `safetensors_format`; the message names the path.
Expected<NamedTensors> read_safetensors(const std::string& path);

}  // namespace hostir::io
