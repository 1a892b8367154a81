// The bytes of an allocation that a view accesses, and sets of bytes.
//
// A view is a contiguous range or a strided shape: extents and byte strides, with the last
// dimension contiguous. Two views conflict only if they share a byte: interleaved columns of one
// matrix do not conflict.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hostir::interp {

struct ByteRange {
  int64_t lo = 0;
  int64_t hi = 0;
};

/// A strided view relative to its first byte: a row of `row_bytes` bytes at every index of the
/// outer dimensions.
struct StridedShape {
  std::vector<int64_t> extents;        // outer dimensions, all nonzero
  std::vector<int64_t> strides_bytes;  // of the outer dimensions
  int64_t row_bytes = 0;
  std::vector<int64_t> strides_elems;  // of all dimensions, as in BufferRef
  int64_t span_bytes() const;
  friend bool operator==(const StridedShape&, const StridedShape&) = default;
};

/// The rows of a view, in ascending order.
std::vector<ByteRange> rows_of(const StridedShape& shape, int64_t offset_bytes);

/// Sorted, disjoint, not adjacent.
class ByteSet {
 public:
  void add(ByteRange range);
  bool covers(ByteRange range) const;
  void clear() { ranges_.clear(); }
  std::span<const ByteRange> ranges() const { return ranges_; }

 private:
  std::vector<ByteRange> ranges_;
};

}  // namespace hostir::interp
