#include "kernels/cpu/plan/concat_step.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/cpu/reference/reference_support.h"
#include "kernels/cpu/thread_pool.h"

namespace hostir::cpu {
namespace {

constexpr int64_t kPieceBytes = int64_t{256} << 10;

/// Copies a box of one value to a box of another: runs of `run` bytes, with strides for the
/// dimensions outside the runs.
struct BoxCopy {
  uint32_t from = 0;
  int64_t from_offset = 0;
  int64_t to_offset = 0;
  int64_t run = 0;
  Extents extents;  // outside of a run; at least one dimension
  Extents from_strides;
  Extents to_strides;

  int64_t rows() const {
    int64_t rows = 1;
    for (const int64_t extent : extents) rows *= extent;
    return rows;
  }
};

/// The shape of a copy: dimensions that are consecutive on both sides are merged into one run.
BoxCopy box_copy(const Extents& part, const Extents& from, const Extents& to, int64_t elem_bytes) {
  BoxCopy copy;
  copy.run = elem_bytes;
  size_t d = part.size();
  while (d > 0) {
    --d;
    copy.run *= part[d];
    if (part[d] != from[d] || part[d] != to[d]) break;
  }
  const Extents from_strides = strides_of(from);
  const Extents to_strides = strides_of(to);
  for (size_t outer = 0; outer < d; ++outer) {
    copy.extents.push_back(part[outer]);
    copy.from_strides.push_back(from_strides[outer] * elem_bytes);
    copy.to_strides.push_back(to_strides[outer] * elem_bytes);
  }
  if (copy.extents.empty()) {
    copy.extents = {1};
    copy.from_strides = {0};
    copy.to_strides = {0};
  }
  return copy;
}

/// Copies `count` runs; element-sized runs get their own loop.
template <class Run>
void copy_elements(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride,
                   int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, sizeof(Run));
  }
}
void copy_runs(std::byte* to, int64_t to_stride, const std::byte* from, int64_t from_stride,
               int64_t run, int64_t count) {
  if (run == 1) return copy_elements<uint8_t>(to, to_stride, from, from_stride, count);
  if (run == 2) return copy_elements<uint16_t>(to, to_stride, from, from_stride, count);
  if (run == 4) return copy_elements<uint32_t>(to, to_stride, from, from_stride, count);
  if (run == 8) return copy_elements<uint64_t>(to, to_stride, from, from_stride, count);
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_stride, from + i * from_stride, static_cast<size_t>(run));
  }
}

/// Rows [begin, end) of a copy, row-major over its outer dimensions.
void copy_rows(const BoxCopy& copy, const std::byte* from, std::byte* to, int64_t begin,
               int64_t end) {
  const size_t last = copy.extents.size() - 1;
  for (int64_t row = begin; row < end;) {
    int64_t rest = row;
    int64_t from_at = copy.from_offset;
    int64_t to_at = copy.to_offset;
    for (size_t d = last + 1; d > 0; --d) {
      const int64_t index = rest % copy.extents[d - 1];
      rest /= copy.extents[d - 1];
      from_at += index * copy.from_strides[d - 1];
      to_at += index * copy.to_strides[d - 1];
    }
    const int64_t count = std::min(end - row, copy.extents[last] - row % copy.extents[last]);
    copy_runs(to + to_at, copy.to_strides[last], from + from_at, copy.from_strides[last], copy.run,
              count);
    row += count;
  }
}

class ConcatStep final : public Step {
 public:
  ConcatStep(std::vector<BoxCopy> copies, uint32_t result)
      : copies_(std::move(copies)), result_(result) {}

  void run(const RunContext& context) override {
    std::byte* to = context.values[result_].data;
    for (const BoxCopy& copy : copies_) {
      const std::byte* from = context.values[copy.from].data;
      const int64_t rows = copy.rows();
      if (rows == 1) {
        copy_one_run(copy, from, to);
        continue;
      }
      const int64_t pieces = std::clamp<int64_t>(rows * copy.run / kPieceBytes, 1, rows);
      parallel_for(pieces, [&](int64_t piece) {
        copy_rows(copy, from, to, rows * piece / pieces, rows * (piece + 1) / pieces);
      });
    }
  }
  std::string description() const override { return "concat copy"; }

 private:
  static void copy_one_run(const BoxCopy& copy, const std::byte* from, std::byte* to) {
    parallel_for((copy.run + kPieceBytes - 1) / kPieceBytes, [&](int64_t piece) {
      const int64_t at = piece * kPieceBytes;
      std::memcpy(to + copy.to_offset + at, from + copy.from_offset + at,
                  static_cast<size_t>(std::min(kPieceBytes, copy.run - at)));
    });
  }

  std::vector<BoxCopy> copies_;
  uint32_t result_;
};

int64_t offset_of(const Box& part, const Box& held) {
  const Extents strides = strides_of(held.extents());
  int64_t at = 0;
  for (size_t d = 0; d < strides.size(); ++d) at += (part.lo[d] - held.lo[d]) * strides[d];
  return at;
}

}  // namespace

std::unique_ptr<Step> make_concat_step(const BoundKernel& kernel, const Instruction& instruction) {
  const auto dim = static_cast<size_t>(instruction.attributes.get_or<int64_t>("dim", 0));
  const uint32_t result = instruction.results[0].index;
  const Placement& out = kernel.values[result];
  if (!out.blocks.empty() || dim >= out.global.size()) return nullptr;
  const int64_t bytes = size_bytes(out.dtype);
  std::vector<BoxCopy> copies;
  int64_t start = 0;
  for (const Operand& operand : instruction.operands) {
    const Placement& in = kernel.values[operand.value.index];
    Box part = Box::whole(out.global);
    part.lo[dim] = start;
    part.hi[dim] = start + in.global[dim];
    part = part.intersect(out.box);
    Box held = in.box;  // in indices of the result
    held.lo[dim] += start;
    held.hi[dim] += start;
    start += in.global[dim];
    if (part.empty()) continue;
    if (!in.blocks.empty() || !held.contains(part)) return nullptr;
    BoxCopy copy = box_copy(part.extents(), held.extents(), out.local(), bytes);
    copy.from = operand.value.index;
    copy.from_offset = offset_of(part, held) * bytes;
    copy.to_offset = offset_of(part, out.box) * bytes;
    copies.push_back(std::move(copy));
  }
  return std::make_unique<ConcatStep>(std::move(copies), result);
}

}  // namespace hostir::cpu
