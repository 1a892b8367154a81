// Whether two operands of one task share memory, as far as extents tell.
//
// Said once for the check that a collective's overlap is NCCL's in-place form (interpreter), and
// for what of an output is still read when it starts (a backend).
#pragma once

#include "interp/core/backend.h"

namespace hostir::interp {

/// True if the byte ranges of two buffers of one rank have a byte in common.
inline bool share_bytes(const BufferRef& a, const BufferRef& b) {
  return a.allocation.valid() && a.allocation == b.allocation &&
         a.offset_bytes < b.offset_bytes + b.size_bytes &&
         b.offset_bytes < a.offset_bytes + a.size_bytes;
}

}  // namespace hostir::interp
