// Dimensions of slice, concat, pad, reverse and roll along which the result has the operand's
// elements at other indices (ShardingRule::shifts): which part of the operand a part of the result
// needs.
#pragma once

#include <algorithm>
#include <vector>

#include "hostir/ir/sharding.h"
#include "hostir/ops/sharding_rule.h"

namespace hostir::kernels {

/// True if elements are shifted along the dimension of an operand or result.
inline bool is_shifted(const ShardingRule& rule, const ShardingRule::DimFactors& dim) {
  return dim.size() == 1 &&
         std::any_of(rule.shifts.begin(), rule.shifts.end(), [&](const ShardingRule::Shift& s) {
           return dim.front() == s.from || dim.front() == s.to;
         });
}

// A dimension of one operand and of the result along which elements are shifted.
struct ShiftedDim {
  const ShardingRule::Shift* shift;
  size_t operand_dim;
  size_t result_dim;
  int64_t by;
};

inline std::vector<ShiftedDim> shifted_dims(const ShardingRule& rule) {
  std::vector<ShiftedDim> out;
  const auto find = [](const ShardingRule::TensorFactors& tensor, int factor) {
    const auto at = std::find(tensor.begin(), tensor.end(), ShardingRule::DimFactors{factor});
    return static_cast<size_t>(at - tensor.begin());
  };
  for (const ShardingRule::Shift& s : rule.shifts) {
    const size_t from = find(rule.operands[s.operand], s.from);
    const size_t to = find(rule.results.front(), s.to);
    const auto by = s.by.evaluate({});
    if (by && from < rule.operands[s.operand].size() && to < rule.results.front().size())
      out.push_back({&s, from, to, *by});
  }
  return out;
}

inline Range clipped(Range range, int64_t size) {
  const int64_t lo = std::clamp<int64_t>(range.lo, 0, size);
  return {lo, std::clamp(range.hi, lo, size)};
}

// The range moved by `by` indices, where the first index follows the last one. All of the dimension
// if the moved range reaches over its end.
inline Range rolled(Range range, int64_t by, int64_t size) {
  if (range.lo == range.hi) return {0, 0};
  const int64_t lo = ((range.lo + by) % size + size) % size;
  const int64_t hi = lo + range.hi - range.lo;
  return hi <= size ? Range{lo, hi} : Range{0, size};
}

// The elements of the operand that a part of the result is made of.
inline Range needed_of(const ShiftedDim& s, Range result, int64_t operand_size) {
  if (result.lo == result.hi) return {0, 0};
  if (s.shift->wraps) return rolled(result, s.by, operand_size);
  const Range range = s.shift->mirrored ? Range{s.by - result.hi + 1, s.by - result.lo + 1}
                                        : Range{result.lo + s.by, result.hi + s.by};
  return clipped(range, operand_size);
}

}  // namespace hostir::kernels
