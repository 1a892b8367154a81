// Shared by the kernels with index operands (take, put, ...): index tensors and accumulation.
#pragma once

#include <algorithm>

#include "kernels/cpu/reference/reference_gather.h"

namespace hostir::cpu {

/// An operand of indices, read by global position.
class IndexOperand {
 public:
  IndexOperand(const Placement& value, ConstMemory memory)
      : at_(value.box), values_(all_ints(value.dtype, memory, value.box.volume())) {}
  int64_t operator()(std::span<const int64_t> global) const {
    return values_[static_cast<size_t>(at_.offset(global))];
  }

 private:
  BoxIndexer at_;
  std::vector<int64_t> values_;
};

/// Puts elements of `updates` into the result: into zeros, or into the base (operand 2). `locate`
/// maps an update's global index to the result's; elements outside the result's box or size are
/// dropped. Adds in f64 or 64 bits and rounds once, or keeps the last one in row-major order.
template <class Locate>
void put_elements(const ReferenceCall& call, bool adds, Locate locate) {
  const Placement& updates = *call.in[0];
  const Placement& out = *call.out[0];
  const bool real = is_float(out.dtype);
  const auto count = out.box.volume();
  std::vector<double> reals(static_cast<size_t>(real ? count : 0), 0);
  std::vector<int64_t> ints(static_cast<size_t>(real ? 0 : count), 0);
  if (call.in.size() > 2) {
    const AlignedOperand base(*call.in[2], call.in_data[2], out.box);
    const ConstMemory memory{base.data(), 0};
    if (real) reals = all_reals(out.dtype, memory, count);
    if (!real) ints = all_ints(out.dtype, memory, count);
  }
  const BoxIndexer read(updates.box);
  const BoxIndexer write(out.box);
  std::vector<int64_t> target(out.global.size(), 0);
  for_each_index(updates.box, [&](const std::vector<int64_t>& index) {
    locate(index, target);
    if (!write.contains(target)) return;
    const auto to = static_cast<size_t>(write.offset(target));
    if (real) {
      double x = 0;
      load_reals(updates.dtype, call.in_data[0].data, read.offset(index), 1, &x);
      reals[to] = adds ? reals[to] + x : x;
    } else {
      int64_t x = 0;
      load_ints(updates.dtype, call.in_data[0].data, read.offset(index), 1, &x);
      ints[to] = adds ? wrap_add(ints[to], x) : x;
    }
  });
  for (int64_t at = 0; at < count; at += kChunk) {
    const int64_t n = std::min(kChunk, count - at);
    if (real) store_reals(out.dtype, call.out_data[0].data, at, n, reals.data() + at);
    if (!real) store_ints(out.dtype, call.out_data[0].data, at, n, ints.data() + at);
  }
}

/// The attribute `dim` of an op; negative values count from the end.
inline size_t dim_attribute(const ReferenceCall& call, size_t rank) {
  const int64_t dim = call.instruction.attributes.get_or<int64_t>("dim", -1);
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
}

inline bool put_adds(const ReferenceCall& call) {
  const auto* mode = call.instruction.attributes.get<Keyword>("mode");
  return mode == nullptr || mode->word == "add";
}

}  // namespace hostir::cpu
