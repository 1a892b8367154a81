// Which bytes of an allocation a view touches, and sets of such bytes.
//
// A view is a contiguous range or a strided shape: extents and byte strides, the last dimension
// with elements next to each other. Two views conflict only if they have a byte in common: columns
// of one matrix interleave without conflict.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hostir::interp {

struct ByteRange {
  int64_t lo = 0;
  int64_t hi = 0;
};

/// A strided view relative to its first byte. Rows of `row_bytes` bytes at every combination of the
/// outer dimensions.
struct StridedShape {
  std::vector<int64_t> extents;        // outer dimensions, none of them 0
  std::vector<int64_t> strides_bytes;  // of them
  int64_t row_bytes = 0;
  std::vector<int64_t> strides_elems;  // of all dimensions, as BufferRef wants them
  int64_t span_bytes() const;
  friend bool operator==(const StridedShape&, const StridedShape&) = default;
};

/// The rows of a view, in ascending order.
std::vector<ByteRange> rows_of(const StridedShape& shape, int64_t offset_bytes);

/// Sorted, disjoint, not adjacent.
class ByteSet {
 public:
  void add(ByteRange range);
  void remove(ByteRange range);
  bool covers(ByteRange range) const;
  void clear() { ranges_.clear(); }
  std::span<const ByteRange> ranges() const { return ranges_; }

 private:
  std::vector<ByteRange> ranges_;
};

}  // namespace hostir::interp
