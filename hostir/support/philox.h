// Philox4x32-10, the counter-based generator of all random values.
//
// A value is a pure function of (key, counter). The key is the op's `seed`; the counter is the
// global linear index of the element plus the op's `offset`. The rank is not an input, so values do
// not depend on the sharding. Source: J. Salmon et al., "Parallel random numbers: as easy as 1, 2,
// 3", SC11.
#pragma once

#include <array>
#include <cstdint>

namespace hostir {

/// One block of four 32-bit words for a 128-bit counter and a 64-bit key.
constexpr std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> ctr,
                                             std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53u} * ctr[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57u} * ctr[2];
    ctr = {static_cast<uint32_t>(p1 >> 32) ^ ctr[1] ^ key[0], static_cast<uint32_t>(p1),
           static_cast<uint32_t>(p0 >> 32) ^ ctr[3] ^ key[1], static_cast<uint32_t>(p0)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return ctr;
}

/// The 32-bit random word of element `index` under `seed`: word (index mod 4) of block (index / 4).
constexpr uint32_t random_word(uint64_t seed, uint64_t index) {
  const uint64_t block = index / 4;
  const auto words =
      philox4x32({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), 0, 0},
                 {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return words[index % 4];
}

/// Uniform in [0, 1) with 24 bits, exactly representable in float.
constexpr float random_unit(uint64_t seed, uint64_t index) {
  return static_cast<float>(random_word(seed, index) >> 8) * 0x1p-24f;
}

}  // namespace hostir
