// The one hash of bytes and numbers: xxh3.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace hostir {

uint64_t hash_of(std::span<const std::byte> bytes, uint64_t seed = 0);
uint64_t hash_of(std::string_view text);
uint64_t hash_of(std::span<const uint64_t> numbers);
/// The hash of what has `hash`, followed by a number.
uint64_t hash_with(uint64_t hash, uint64_t next);

}  // namespace hostir
