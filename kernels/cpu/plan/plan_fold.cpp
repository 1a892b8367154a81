#include "kernels/cpu/plan/plan_fold.h"

#include "hostir/ops/record.h"
#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {
namespace {

Fold fold_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kProd:
      return Fold::kProd;
    case Reduction::kMin:
      return Fold::kMin;
    case Reduction::kMax:
      return Fold::kMax;
    case Reduction::kSum:
    case Reduction::kAvg:
      break;
  }
  return Fold::kSum;
}

/// Accumulator strides by operand dimension; nullopt if the boxes do not correspond.
std::optional<Extents> accumulator_strides(const Placement& in, const Placement& out,
                                           const std::vector<bool>& folded) {
  const bool keeps_dims = out.global.size() == in.global.size();
  const Extents dense = strides_of(out.local());
  Extents strides(in.global.size(), 0);
  size_t next = 0;
  for (size_t d = 0; d < in.global.size(); ++d) {
    if (folded[d]) continue;
    const size_t r = keeps_dims ? d : next++;
    if (r >= out.box.lo.size() || out.box.lo[r] != in.box.lo[d] || out.box.hi[r] != in.box.hi[d]) {
      return std::nullopt;
    }
    strides[d] = dense[r];
  }
  return strides;
}

}  // namespace

std::optional<TileFold> plan_fold(const BoundKernel& kernel, const Instruction& instruction) {
  const std::optional<Reduction> reduction = record(instruction.kind).fold;
  if (!reduction) return std::nullopt;
  const bool is_mean = *reduction == Reduction::kAvg;
  const uint32_t result = instruction.results[0].index;
  const Placement& in = kernel.values[instruction.operands[0].value.index];
  const Placement& out = kernel.values[result];
  const bool is_ordered = *reduction == Reduction::kMin || *reduction == Reduction::kMax;
  if (in.dtype == DType::kU64 && is_ordered) return std::nullopt;  // the lanes are signed
  if (in.dtype != out.dtype || (is_mean && !is_float(out.dtype))) return std::nullopt;
  const std::vector<bool> folded = kernels::folded_dims(instruction, in.global.size());
  const auto strides = accumulator_strides(in, out, folded);
  if (!strides) return std::nullopt;
  TileFold fold;
  fold.fold = fold_of(*reduction);
  fold.dtype = in.dtype;
  fold.lane = lane_of(in.dtype);
  fold.view = {result, 0, *strides};
  fold.elems = out.box.volume();
  fold.is_mean = is_mean;
  for (size_t d = 0; d < folded.size(); ++d) {
    if (folded[d]) fold.divisor *= in.global[d];
  }
  return fold;
}

}  // namespace hostir::cpu
