#include "hostir/ops/shared_memory.h"

#include <algorithm>
#include <limits>

namespace hostir::ops {

namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// A box in the buffer `whole`. The limit kEnd means the end of a dimension.
struct Part {
  ValueId whole;
  Box box;
  bool retyped = false;  // indices of the view are not indices of the buffer
};

Box everything(const Type& type) {
  const size_t rank = shape_of(type).size();
  return {std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, kEnd)};
}

// The box of a view of `from` with these bounds; nullopt if a bound is not a number.
std::optional<Box> narrowed(const Box& from, const ExprList& starts, const ExprList& limits) {
  Box box = from;
  if (starts.size() != box.lo.size() || limits.size() != box.lo.size()) return std::nullopt;
  for (size_t d = 0; d < starts.size(); ++d) {
    const IndexExpr start = starts[d].simplified();
    const IndexExpr limit = limits[d].simplified();
    if (!start.is_const() || !limit.is_const()) return std::nullopt;
    if (limit.value() >= 0) box.hi[d] = std::min(box.hi[d], from.lo[d] + limit.value());
    box.lo[d] = from.lo[d] + start.value();
  }
  return box;
}

std::optional<Part> part_of(const Function& function, ValueId value) {
  const Value& v = function.value(value);
  const bool view =
      v.defined_by.valid() && record(function.instr(v.defined_by).kind).role == HostRole::kView;
  if (!view) return Part{value, everything(v.type)};
  const Instruction& made_by = function.instr(v.defined_by);
  if (made_by.operands.empty() || !made_by.operands[0].value.valid()) return std::nullopt;
  const std::optional<Part> base = part_of(function, made_by.operands[0].value);
  if (!base) return std::nullopt;
  const auto* starts = made_by.attributes.get<ExprList>("starts");
  const auto* limits = made_by.attributes.get<ExprList>("limits");
  if (starts == nullptr || limits == nullptr) {  // the same bytes under another type
    return Part{base->whole, base->box, true};
  }
  if (base->retyped) return std::nullopt;
  const std::optional<Box> box = narrowed(base->box, *starts, *limits);
  if (!box) return std::nullopt;
  return Part{base->whole, *box};
}

}  // namespace

bool surely_overlap(const Function& function, ValueId a, ValueId b) {
  const std::optional<Part> x = part_of(function, a);
  const std::optional<Part> y = part_of(function, b);
  if (!x || !y || x->whole != y->whole) return false;
  for (size_t d = 0; d < x->box.lo.size() && d < y->box.lo.size(); ++d) {
    if (std::max(x->box.lo[d], y->box.lo[d]) >= std::min(x->box.hi[d], y->box.hi[d])) return false;
  }
  return true;
}

}  // namespace hostir::ops
