// zstd and xxh3, for contents of tensors and inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::traces {

uint64_t digest_of(std::span<const std::byte> bytes);
uint64_t digest_of(std::string_view text);

std::vector<std::byte> compressed(std::span<const std::byte> bytes);

/// Exactly `size_bytes` bytes. Errors: `log_damaged` where the data is something else; nothing is
/// allocated on the word of a damaged file beyond `size_bytes`.
Expected<std::vector<std::byte>> decompressed(std::span<const std::byte> data, int64_t size_bytes);

}  // namespace hostir::traces
