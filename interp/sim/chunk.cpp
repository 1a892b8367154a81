#include "interp/sim/chunk.h"

#include <new>

#include "hostir/support/hash.h"

namespace hostir::sim {

Chunk::Chunk(int64_t size_bytes)
    : data_(static_cast<std::byte*>(
          ::operator new (static_cast<std::size_t>(size_bytes > 0 ? size_bytes : 1),
                          std::align_val_t{kAlignment}))),
      size_bytes_(size_bytes) {}

Chunk::~Chunk() { ::operator delete (data_, std::align_val_t{kAlignment}); }

uint64_t Chunk::digest() const {
  if (!digest_) digest_ = hash_of({data_, static_cast<std::size_t>(size_bytes_)});
  return *digest_;
}

}  // namespace hostir::sim
