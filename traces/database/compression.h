// zstd, for contents of tensors and inputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::traces {

std::vector<std::byte> compressed(std::span<const std::byte> bytes);

/// Decompresses exactly `size_bytes` bytes. Never allocates more than that, whatever a damaged file
/// claims.
/// Errors: `log_damaged` if the data is anything else.
Expected<std::vector<std::byte>> decompressed(std::span<const std::byte> data, int64_t size_bytes);

}  // namespace hostir::traces
