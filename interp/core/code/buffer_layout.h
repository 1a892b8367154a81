// Where the elements of a buffer are stored, for code that moves them one run at a time.
//
// A buffer holds the elements of its placement's box: row-major, with strides (a view), or as one
// row-major block per group member (a packed buffer). The functions below walk a box in row-major
// order, in runs that are contiguous on both sides.
#pragma once

#include <functional>

#include "interp/core/backend.h"

namespace hostir::interp {

/// `count` elements starting `stored` elements after the ref's offset correspond to `count`
/// elements starting at `dense` in the row-major order of the box.
using RunFunction = std::function<void(int64_t stored, int64_t dense, int64_t count)>;
void for_each_run(const BufferRef& ref, const Placement& placement, const Box& box,
                  const RunFunction& run);

/// True if the buffer's bytes are its box in row-major order.
bool is_dense(const BufferRef& ref, const Placement& placement);

/// Copies between a buffer's memory (`stored` points at the ref's offset) and a dense array of the
/// box.
void gather(const BufferRef& ref, const Placement& placement, const Box& box,
            const std::byte* stored, std::byte* dense);
void scatter(const BufferRef& ref, const Placement& placement, const Box& box, std::byte* stored,
             const std::byte* dense);

}  // namespace hostir::interp
