#include "interp/core/code/buffer_layout.h"

#include <cstring>

namespace hostir::interp {

namespace {

using Strides = std::vector<int64_t>;

Strides row_major(const Extents& extents) {
  Strides strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  return strides;
}

// Walks the sub-box `inner` of `outer`: iterates the leading dimensions and emits runs of the last.
// `stored` strides are those of the storage of `outer`; `dense` strides those of the requested box,
// whose corner is `dense_lo`.
struct Walk {
  const Box& inner;
  const std::vector<int64_t>& stored_lo;
  const Strides& stored;
  const std::vector<int64_t>& dense_lo;
  const Strides& dense;
  const RunFunction& run;

  void dimension(size_t d, int64_t at_stored, int64_t at_dense) const {
    const int64_t lo = inner.lo[d];
    const int64_t n = inner.hi[d] - lo;
    at_stored += (lo - stored_lo[d]) * stored[d];
    at_dense += (lo - dense_lo[d]) * dense[d];
    const bool last = d + 1 == inner.lo.size();
    if (last && stored[d] == 1) return run(at_stored, at_dense, n);
    for (int64_t i = 0; i < n; ++i) {
      if (last) {
        run(at_stored + i * stored[d], at_dense + i, 1);
      } else {
        dimension(d + 1, at_stored + i * stored[d], at_dense + i * dense[d]);
      }
    }
  }
};

}  // namespace

void for_each_run(const BufferRef& ref, const Placement& placement, const Box& box,
                  const RunFunction& run) {
  if (box.lo.empty()) return run(0, 0, 1);
  const Strides dense = row_major(box.extents());
  const auto walk = [&](const Box& part, const Strides& stored, int64_t base) {
    const Box inner = part.intersect(box);
    if (inner.empty()) return;
    const RunFunction shifted = [&](int64_t s, int64_t d, int64_t n) { run(base + s, d, n); };
    Walk{inner, part.lo, stored, box.lo, dense, base == 0 ? run : shifted}.dimension(0, 0, 0);
  };
  if (placement.blocks.empty()) {
    const bool view = ref.strides_elems.size() == box.lo.size();
    return walk(placement.box, view ? ref.strides_elems : row_major(placement.local()), 0);
  }
  int64_t base = 0;
  for (const Box& block : placement.blocks) {
    walk(block, row_major(block.extents()), base);
    base += block.volume();
  }
}

bool is_dense(const BufferRef& ref, const Placement& placement) {
  if (placement.blocks.size() > 1) return false;
  return ref.strides_elems.empty() || ref.strides_elems == row_major(placement.local());
}

void gather(const BufferRef& ref, const Placement& placement, const Box& box,
            const std::byte* stored, std::byte* dense) {
  const int64_t bytes = size_bytes(placement.dtype);
  for_each_run(ref, placement, box, [&](int64_t s, int64_t d, int64_t n) {
    std::memcpy(dense + d * bytes, stored + s * bytes, static_cast<size_t>(n * bytes));
  });
}

void scatter(const BufferRef& ref, const Placement& placement, const Box& box, std::byte* stored,
             const std::byte* dense) {
  const int64_t bytes = size_bytes(placement.dtype);
  for_each_run(ref, placement, box, [&](int64_t s, int64_t d, int64_t n) {
    std::memcpy(stored + s * bytes, dense + d * bytes, static_cast<size_t>(n * bytes));
  });
}

}  // namespace hostir::interp
