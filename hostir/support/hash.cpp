#include "hostir/support/hash.h"

#include <xxhash.h>

#include <array>

namespace hostir {

uint64_t hash_of(std::span<const std::byte> bytes, uint64_t seed) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}
uint64_t hash_of(std::string_view text) { return hash_of(std::as_bytes(std::span(text))); }
uint64_t hash_of(std::span<const uint64_t> numbers) { return hash_of(std::as_bytes(numbers)); }
uint64_t hash_with(uint64_t hash, uint64_t next) { return hash_of(std::array{hash, next}); }

}  // namespace hostir
