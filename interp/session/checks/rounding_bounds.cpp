#include "interp/session/checks/rounding_bounds.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hostir/ops/record.h"
#include "interp/session/checks/compare.h"

namespace hostir::interp {

bool coarsen(std::optional<DType>& coarsest, std::optional<DType> other) {
  if (!other || !is_float(*other)) return false;
  if (coarsest && facts_of(*other).mantissa_bits >= facts_of(*coarsest).mantissa_bits) return false;
  coarsest = other;
  return true;
}

namespace {

PartialUses marks_of(const OpRecord& op, size_t operand) {
  const size_t slot = slot_of(op, operand);
  return slot < op.operands.size() ? op.operands[slot].partial : PartialUses();
}

double square_of_rounding(DType dtype) {
  return is_float(dtype) ? std::ldexp(1.0, -2 * (facts_of(dtype).mantissa_bits + 1)) : 0;
}

}  // namespace

RoundingBounds::RoundingBounds(const Function& fusion, Order order)
    : fusion_(fusion), order_(order), known_(fusion.values.size()) {}

double RoundingBounds::Rounding::scale() const {
  return std::max(largest, amplification ? std::min(rounded, largest * *amplification) : rounded);
}

RoundingBounds::Effect RoundingBounds::effect_of(const Instruction& i) {
  const OpRecord& op = record(i.kind);
  if (op.shape == OpShape::kBroadcast) return Effect::kPicked;
  bool added = !i.operands.empty();
  bool multiplied = added;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    added = added && marks_of(op, n).sum == PartialUse::kAllAlike;
    multiplied = multiplied && marks_of(op, n).sum == PartialUse::kOthersWhole;
  }
  if (multiplied || op.shape == OpShape::kContraction) return Effect::kMultiplied;
  return added ? Effect::kAdded : Effect::kOther;
}

void RoundingBounds::find_largest(const Instruction& i, Effect effect, Rounding& out) const {
  const OpRecord& op = record(i.kind);
  double product = 1;    // of the factors' largest elements
  double rounded = 1;    // the largest number rounded for one factor, in that product
  double amplified = 1;  // ratio of that number to the value, for the worst operand
  for (size_t n = 0; n < i.operands.size(); ++n) {
    if (!i.operands[n].value.valid()) continue;
    const Rounding& in = known_[i.operands[n].value.index];
    const double scale = in.scale();
    const bool is_factor =
        effect == Effect::kMultiplied && marks_of(op, n).sum == PartialUse::kOthersWhole;
    if (is_factor) {
      rounded = std::max(rounded * in.largest, product * scale);
      product *= in.largest;
      continue;
    }
    out.largest =
        effect == Effect::kAdded ? out.largest + in.largest : std::max(out.largest, in.largest);
    // A sum rounds even addends that are the same in both runs.
    if (effect != Effect::kPicked || in.may_differ) out.rounded = std::max(out.rounded, scale);
    if (in.may_differ && scale > in.largest * amplified) amplified = scale / in.largest;
  }
  if (effect == Effect::kMultiplied) {
    out.largest = std::max(out.largest, product);
    out.rounded = std::max(out.rounded, rounded);
  } else if (effect == Effect::kOther) {
    out.rounded = std::numeric_limits<double>::infinity();
    out.amplification = amplified;
  }
}

double RoundingBounds::scale(ValueId value) const {
  const Rounding& rounding = known_[value.index];
  if (!rounding.dtype) return rounding.scale();
  const double together = std::min(kDeviations * std::sqrt(rounding.squares), kMostRelative);
  return rounding.scale() * std::max(1.0, together / default_relative(*rounding.dtype));
}

// How many numbers are added up for an element of the result.
double RoundingBounds::addends_of(const Instruction& i) const {
  const OpRecord& op = record(i.kind);
  const bool picks = op.fold == Reduction::kMax || op.fold == Reduction::kMin;
  const bool sums = op.shape == OpShape::kContraction || op.shape == OpShape::kReduction;
  if (!sums || picks || op.cost == nullptr) return 1;
  std::vector<Type> types;
  std::vector<Extents> operands;
  std::vector<Extents> results;
  const auto known = [&](ValueId value, std::vector<Extents>& out) {
    const auto extents = constant_extents(shape_of(fusion_.value(value).type));
    if (extents) out.push_back(*extents);
    return extents.has_value();
  };
  for (const Operand& o : i.operands) {
    if (!o.value.valid() || !known(o.value, operands)) return 1;
    types.push_back(fusion_.value(o.value).type);
  }
  for (const ValueId result : i.results) {
    if (!known(result, results)) return 1;
  }
  double elements = 1;
  for (const int64_t extent : results.front()) elements *= static_cast<double>(extent);
  const OpCall call{.kind = i.kind, .operands = types, .attributes = i.attributes};
  const double flops = op.cost(call, operands, results).flops;
  const double per_addend = op.shape == OpShape::kContraction ? 2 : 1;
  return elements == 0 ? 1 : std::max(1.0, flops / per_addend / elements);
}

void RoundingBounds::add(const Instruction& i) {
  const OpShape shape = record(i.kind).shape;
  const Effect effect = effect_of(i);
  Rounding made;
  made.may_differ = shape != OpShape::kBroadcast && shape != OpShape::kSource &&
                    (shape != OpShape::kPointwise || order_ == Order::kAnother);
  for (const Operand& o : i.operands) {
    if (!o.value.valid() || !known_[o.value.index].may_differ) continue;
    made.may_differ = true;
    coarsen(made.dtype, known_[o.value.index].dtype);
    made.squares = std::max(made.squares, known_[o.value.index].squares);
  }
  const double addends = made.may_differ ? addends_of(i) : 1;
  find_largest(i, effect, made);
  if (shape == OpShape::kSource) made.largest = std::fabs(i.attributes.get_or<double>("value", 0));
  for (const ValueId result : i.results) {
    Rounding& rounding = known_[result.index] = made;
    if (made.may_differ && std::holds_alternative<TensorType>(fusion_.value(result).type))
      add_roundings(rounding, dtype_of(fusion_.value(result).type), addends);
    const double most =
        rounding.dtype ? std::max(1.0, kMostRelative / default_relative(*rounding.dtype)) : 1;
    if (effect == Effect::kOther) rounding.amplification = std::min(*made.amplification, most);
    if (effect == Effect::kPicked) rounding.amplification = most;
  }
}

// Rounds the result, and the sums on the way to it.
void RoundingBounds::add_roundings(Rounding& to, DType dtype, double addends) {
  coarsen(to.dtype, dtype);
  const DType summed = dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  to.squares += square_of_rounding(dtype);
  if (is_float(dtype)) to.squares += (addends - 1) * square_of_rounding(summed);
}

void RoundingBounds::set_known(ValueId value, const Tensor& tensor) {
  known_[value.index].largest = largest_finite(tensor);
}

void RoundingBounds::set_rounded(ValueId value, DType dtype) {
  known_[value.index].may_differ = true;
  coarsen(known_[value.index].dtype, dtype);
}

void RoundingBounds::set_equal(ValueId value) {
  known_[value.index] = {.largest = known_[value.index].largest};
}

}  // namespace hostir::interp
