#include "hostir/passes/windows/shifted_view.h"

#include <algorithm>

#include "hostir/ops/builder.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

using Dim = ShiftedView::Dim;

// The numbers of a list attribute; nullopt if one is unknown.
std::optional<std::vector<int64_t>> numbers_of(const Instruction& i, std::string_view name) {
  std::vector<int64_t> out;
  for (const IndexExpr& e : i.attributes.get_or<ExprList>(name, {})) {
    const IndexExpr simple = e.simplified();
    if (!simple.is_const()) return std::nullopt;
    out.push_back(simple.value());
  }
  return out;
}

// The shift of a roll that moves elements the shorter way.
int64_t shorter_way(int64_t offset, int64_t size) {
  const int64_t around = (offset % size + size) % size;
  return 2 * around > size ? around - size : around;
}

// `outer` taken of `inner`, which is taken of `whole` elements.
std::optional<Dim> composed(const Dim& inner, const Dim& outer, int64_t whole) {
  if (!inner.moves(whole)) return outer;
  if (!outer.moves(inner.size)) return inner;
  // What skips elements is smaller than the root, and better made once.
  if (outer.spread != 1 || inner.stride != 1) return std::nullopt;
  Dim out = inner;
  out.offset += outer.offset;
  out.stride = outer.stride;
  out.size = outer.size;
  if (outer.wraps) {
    if (!inner.wraps || inner.size != whole) return std::nullopt;
    out.offset = shorter_way(out.offset, whole);
    return out;
  }
  // It has the fill value only where the root has no elements.
  const int64_t last = inner.spread * (whole - 1);
  const bool hides_low = inner.wraps || inner.offset > 0;
  const bool hides_high = inner.wraps || inner.end() <= last;
  if ((outer.offset < 0 && hides_low) || (outer.end() > inner.size && hides_high))
    return std::nullopt;
  return out;
}

}  // namespace

int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
int64_t ceil_div(int64_t a, int64_t b) { return -floor_div(-a, b); }

int64_t extent_of(const Function& function, ValueId value, size_t d) {
  return tensor_type(function, value).shape[d].simplified().value();
}

std::optional<ShiftedView> view_of(const Function& function, const Instruction& i) {
  if (i.kind != OpKind::slice && i.kind != OpKind::pad && i.kind != OpKind::roll)
    return std::nullopt;
  const auto before = constant_extents(tensor_type(function, i.operands.front().value).shape);
  const auto after = constant_extents(tensor_type(function, i.results.front()).shape);
  if (!before || !after) return std::nullopt;
  const auto is_empty = [](int64_t size) { return size == 0; };
  if (std::any_of(before->begin(), before->end(), is_empty) ||
      std::any_of(after->begin(), after->end(), is_empty))
    return std::nullopt;
  ShiftedView out;
  out.root = i.operands.front().value;
  for (const int64_t size : *after) out.dims.push_back({.size = size});
  if (i.kind == OpKind::roll) {
    const IndexExpr shift = i.attributes.get_or<IndexExpr>("shift", IndexExpr(0)).simplified();
    if (!shift.is_const()) return std::nullopt;
    const auto d = static_cast<size_t>(ops::dim_of(i.attributes, "dim", before->size()));
    out.dims[d].offset = shorter_way(-(shift.value() % (*before)[d]), (*before)[d]);
    out.dims[d].wraps = out.dims[d].offset != 0;
    return out;
  }
  const bool is_slice = i.kind == OpKind::slice;
  const auto low = numbers_of(i, is_slice ? "start" : "low");
  if (!low || low->size() != before->size()) return std::nullopt;
  const auto stride = i.attributes.get_or<IntList>("stride", IntList(before->size(), 1));
  const auto interior = i.attributes.get_or<IntList>("interior", IntList(before->size(), 0));
  for (size_t d = 0; d < before->size(); ++d) {
    out.dims[d].offset = is_slice ? (*low)[d] : -(*low)[d];
    if (is_slice) out.dims[d].stride = stride[d];
    if (!is_slice) out.dims[d].spread = interior[d] + 1;
  }
  if (!is_slice) out.fill = i.attributes.get_or<double>("value", 0);
  return out;
}

std::optional<ShiftedView> composed(const Function& function, const ShiftedView& inner,
                                    const ShiftedView& outer) {
  if (inner.fill && outer.fill && *inner.fill != *outer.fill) return std::nullopt;
  ShiftedView out = inner;
  for (size_t d = 0; d < inner.dims.size(); ++d) {
    const auto dim = composed(inner.dims[d], outer.dims[d], extent_of(function, inner.root, d));
    if (!dim) return std::nullopt;
    out.dims[d] = *dim;
  }
  if (!out.fill) out.fill = outer.fill;
  out.length = inner.length + outer.length;
  return out;
}

}  // namespace hostir
