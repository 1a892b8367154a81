#include "interp/sim/chunk.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <new>

namespace hostir::sim {

Chunk::Chunk(int64_t size_bytes)
    : data_(static_cast<std::byte*>(
          ::operator new (static_cast<std::size_t>(size_bytes > 0 ? size_bytes : 1),
                          std::align_val_t{kAlignment}))),
      size_bytes_(size_bytes) {}

Chunk::~Chunk() { ::operator delete (data_, std::align_val_t{kAlignment}); }

uint64_t Chunk::digest() const {
  if (!digest_) digest_ = digest_of(data_, size_bytes_);
  return *digest_;
}

uint64_t digest_of(const std::byte* data, int64_t size_bytes) {
  return XXH3_64bits(data, static_cast<std::size_t>(size_bytes));
}

}  // namespace hostir::sim
