// Boxes in memory: indexing, walking and copying.
#include <cstring>

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

BoxIndexer::BoxIndexer(const Box& box) : box_(box), strides_(strides_of(box.extents())) {}

int64_t BoxIndexer::offset(std::span<const int64_t> global) const {
  int64_t offset = 0;
  for (size_t d = 0; d < global.size(); ++d) offset += (global[d] - box_.lo[d]) * strides_[d];
  return offset;
}

bool BoxIndexer::contains(std::span<const int64_t> global) const {
  for (size_t d = 0; d < global.size(); ++d) {
    if (global[d] < box_.lo[d] || global[d] >= box_.hi[d]) return false;
  }
  return true;
}

bool next_index(const Box& box, std::vector<int64_t>& index) {
  for (size_t d = index.size(); d > 0; --d) {
    if (++index[d - 1] < box.hi[d - 1]) return true;
    index[d - 1] = box.lo[d - 1];
  }
  return false;
}

void copy_box(const Box& from, const std::byte* source, const Box& to, std::byte* target,
              int64_t element_bytes) {
  const Box shared = from.intersect(to);
  if (shared.empty()) return;
  const BoxIndexer read(from);
  const BoxIndexer write(to);
  // Copies whole rows of the last dimension at a time.
  Box rows = shared;
  int64_t row_elems = 1;
  if (!rows.lo.empty()) {
    row_elems = rows.hi.back() - rows.lo.back();
    rows.hi.back() = rows.lo.back() + 1;
  }
  for_each_index(rows, [&](const std::vector<int64_t>& index) {
    std::memcpy(target + write.offset(index) * element_bytes,
                source + read.offset(index) * element_bytes,
                static_cast<size_t>(row_elems * element_bytes));
  });
}

AlignedOperand::AlignedOperand(const Placement& value, ConstMemory memory, const Box& wanted) {
  if (value.box == wanted) {
    data_ = memory.data;
    return;
  }
  const int64_t element = size_bytes(value.dtype);
  const int64_t count = wanted.volume();
  copy_.resize(static_cast<size_t>(count * element));
  if (value.box.lo.size() == wanted.lo.size()) {
    copy_box(value.box, memory.data, wanted, copy_.data(), element);
  } else if (value.box.volume() == 1) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(copy_.data() + i * element, memory.data, static_cast<size_t>(element));
    }
  }
  data_ = copy_.data();
}

}  // namespace hostir::cpu
