#include "interp/core/byte_ranges.h"

#include <algorithm>

namespace hostir::interp {

int64_t StridedShape::span_bytes() const {
  int64_t span = row_bytes;
  for (size_t d = 0; d < extents.size(); ++d) span += (extents[d] - 1) * strides_bytes[d];
  return span;
}

std::vector<ByteRange> rows_of(const StridedShape& shape, int64_t offset_bytes) {
  std::vector<ByteRange> out;
  std::vector<int64_t> index(shape.extents.size(), 0);
  while (true) {
    int64_t lo = offset_bytes;
    for (size_t d = 0; d < index.size(); ++d) lo += index[d] * shape.strides_bytes[d];
    if (!out.empty() && out.back().hi == lo) {
      out.back().hi = lo + shape.row_bytes;
    } else {
      out.push_back({lo, lo + shape.row_bytes});
    }
    size_t d = index.size();
    while (d > 0 && ++index[d - 1] == shape.extents[d - 1]) index[--d] = 0;
    if (d == 0) return out;
  }
}

void ByteSet::add(ByteRange range) {
  if (range.lo >= range.hi) return;
  auto first = std::lower_bound(ranges_.begin(), ranges_.end(), range.lo,
                                [](const ByteRange& r, int64_t lo) { return r.hi < lo; });
  auto last = first;
  while (last != ranges_.end() && last->lo <= range.hi) {
    range.lo = std::min(range.lo, last->lo);
    range.hi = std::max(range.hi, last->hi);
    ++last;
  }
  if (first == last) {
    ranges_.insert(first, range);
  } else {
    *first = range;
    ranges_.erase(first + 1, last);
  }
}

bool ByteSet::covers(ByteRange range) const {
  if (range.lo >= range.hi) return true;
  const auto at = std::lower_bound(ranges_.begin(), ranges_.end(), range.lo,
                                   [](const ByteRange& r, int64_t lo) { return r.hi <= lo; });
  return at != ranges_.end() && at->lo <= range.lo && at->hi >= range.hi;
}

}  // namespace hostir::interp
