#include "traces/database/compression.h"

#include <zstd.h>

namespace hostir::traces {

std::vector<std::byte> compressed(std::span<const std::byte> bytes) {
  constexpr int kLevel = 1;  // float data compresses poorly; prefer speed
  std::vector<std::byte> out(ZSTD_compressBound(bytes.size()));
  const size_t size = ZSTD_compress(out.data(), out.size(), bytes.data(), bytes.size(), kLevel);
  out.resize(ZSTD_isError(size) != 0 ? 0 : size);
  return out;
}

Expected<std::vector<std::byte>> decompressed(std::span<const std::byte> data, int64_t size_bytes) {
  const auto damaged = [] {
    return fail(ErrorKind::kRuntime, "log_damaged", "compressed contents are damaged");
  };
  constexpr unsigned long long kWorstRatio = 1 << 15;  // zstd blocks: 128 KiB in 4 bytes
  if (size_bytes < 0) return damaged();
  const auto size = static_cast<size_t>(size_bytes);
  if (ZSTD_getFrameContentSize(data.data(), data.size()) != size) return damaged();
  if (size / kWorstRatio > data.size()) return damaged();
  std::vector<std::byte> out(size);
  const size_t got = ZSTD_decompress(out.data(), out.size(), data.data(), data.size());
  if (ZSTD_isError(got) != 0 || got != size) return damaged();
  return out;
}

}  // namespace hostir::traces
