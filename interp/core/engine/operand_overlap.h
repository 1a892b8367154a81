// Detects whether two operands of one task share memory, by their extents.
//
// Shared by the interpreter's check that a collective overlaps only in NCCL's in-place form, and by
// a backend that must know which outputs are still read when a collective starts.
#pragma once

#include "interp/core/backend.h"

namespace hostir::interp {

/// True if two buffers of one rank share a byte.
inline bool share_bytes(const BufferRef& a, const BufferRef& b) {
  return a.allocation.valid() && a.allocation == b.allocation &&
         a.offset_bytes < b.offset_bytes + b.size_bytes &&
         b.offset_bytes < a.offset_bytes + a.size_bytes;
}

}  // namespace hostir::interp
