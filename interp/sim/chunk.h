// Reference-counted memory for buffers.
//
// A chunk is a run of bytes with an intrusive reference count. Handles are copied freely, so that
// replicas on many ranks, checkpoints and results of collectives share one copy. A writer must be
// the only owner (SimMemory ensures that). The bytes of a shared chunk never change, so its digest
// can be cached.
// Threads: handles belong to the backend's thread; worker threads see only raw pointers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace hostir::sim {

class Chunk {
 public:
  static constexpr std::size_t kAlignment = 64;

  explicit Chunk(int64_t size_bytes);
  ~Chunk();
  Chunk(const Chunk&) = delete;
  Chunk& operator=(const Chunk&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  int64_t size_bytes() const { return size_bytes_; }

  /// xxh3 of all bytes, cached until the bytes change.
  uint64_t digest() const;
  /// Identity of the contents, for kernels that cache packed copies; 0: not worth caching.
  uint64_t version() const { return version_; }
  void set_version(uint64_t version) { version_ = version; }
  /// Call before the bytes change: invalidates digest and version.
  void begin_change() {
    digest_.reset();
    version_ = 0;
  }

 private:
  friend class ChunkRef;
  std::byte* data_ = nullptr;
  int64_t size_bytes_ = 0;
  uint32_t owners_ = 0;
  uint64_t version_ = 0;
  mutable std::optional<uint64_t> digest_;
};

/// A counted handle; empty by default.
class ChunkRef {
 public:
  ChunkRef() = default;
  static ChunkRef make(int64_t size_bytes) { return ChunkRef(new Chunk(size_bytes)); }
  ChunkRef(const ChunkRef& other) : chunk_(other.chunk_) { retain(); }
  ChunkRef(ChunkRef&& other) noexcept : chunk_(std::exchange(other.chunk_, nullptr)) {}
  ChunkRef& operator=(ChunkRef other) noexcept {
    std::swap(chunk_, other.chunk_);
    return *this;
  }
  ~ChunkRef() {
    if (chunk_ != nullptr && --chunk_->owners_ == 0) delete chunk_;
  }

  Chunk* get() const { return chunk_; }
  Chunk* operator->() const { return chunk_; }
  explicit operator bool() const { return chunk_ != nullptr; }
  bool unique() const { return chunk_ != nullptr && chunk_->owners_ == 1; }

 private:
  explicit ChunkRef(Chunk* chunk) : chunk_(chunk) { retain(); }
  void retain() {
    if (chunk_ != nullptr) ++chunk_->owners_;
  }
  Chunk* chunk_ = nullptr;
};

}  // namespace hostir::sim
