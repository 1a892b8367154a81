// reduce with the regions that frameworks emit: sums, products, extremes, logic, argmax and argmin.

#include <algorithm>
#include <limits>

#include "hostir/import/handlers.h"
#include "hostir/import/reducer.h"
#include "hostir/ops/record.h"

namespace hostir::importer {

namespace {

// True if `init` is the identity of the reduction kind.
bool is_identity_of(ReducerKind kind, const Known& init) {
  if (!init.is_number()) return false;
  const Tensor& number = *init.number;
  const double value = number.get_double(0);
  const DType dtype = number.dtype;
  if (kind == ReducerKind::kSum || kind == ReducerKind::kOr) return value == 0;
  if (kind == ReducerKind::kProd || kind == ReducerKind::kAnd)
    return value == 1 || (kind == ReducerKind::kAnd && number.get_int(0) == -1);
  const bool is_max = kind == ReducerKind::kMax;
  if (is_float(dtype)) {
    const double top = facts_of(dtype).top;
    return value == (is_max ? -top : top);
  }
  return number.get_int(0) == (is_max ? least(dtype) : greatest(dtype));
}

OpKind reduction_op(ReducerKind kind) {
  switch (kind) {
    case ReducerKind::kSum:
      return OpKind::reduce_sum;
    case ReducerKind::kProd:
      return OpKind::reduce_prod;
    case ReducerKind::kMax:
    case ReducerKind::kOr:
      return OpKind::reduce_max;
    case ReducerKind::kMin:
    case ReducerKind::kAnd:
      return OpKind::reduce_min;
  }
  return OpKind::reduce_sum;
}

// Sums of 8-bit integers wrap in both languages. i1 is reduced as i32 numbers 0 and 1.
Expected<Known> reduce_one(Emitter& e, ReducerKind kind, const Known& x,
                           const std::vector<int64_t>& dims) {
  if (x.type.element != "i1") return e.reduced(reduction_op(kind), x, dims);
  const ReducerKind logic =
      kind == ReducerKind::kSum || kind == ReducerKind::kMax    ? ReducerKind::kOr
      : kind == ReducerKind::kProd || kind == ReducerKind::kMin ? ReducerKind::kAnd
                                                                : kind;
  HOSTIR_ASSIGN_OR_RETURN(const Known numbers, e.cast(x, "i32"));
  HOSTIR_ASSIGN_OR_RETURN(const Known reduced, e.reduced(reduction_op(logic), numbers, dims));
  return e.compared(reduced, e.integer(0, reduced.type), "ne");
}

// argmax or argmin over one dimension: the extreme, then its smallest index. NaN counts as extreme.
Expected<void> emit_arg_extreme(const OpSite& s, ReducerKind kind,
                                const std::vector<int64_t>& dims) {
  Emitter& e = s.emitter;
  const Known& x = s.in(0);
  const Known& index = s.in(1);
  HOSTIR_ASSIGN_OR_RETURN(Known extreme, e.reduced(reduction_op(kind), x, dims));
  std::vector<int64_t> kept;
  for (size_t d = 0; d < x.type.dims.size(); ++d) {
    if (std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) == dims.end())
      kept.push_back(static_cast<int64_t>(d));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known wide, e.broadcast(extreme, kept, x.type.dims));
  HOSTIR_ASSIGN_OR_RETURN(Known here, e.compared(x, wide, "eq"));
  if (is_float(*x.type.dtype())) {
    HOSTIR_ASSIGN_OR_RETURN(const Known nan, e.compared(x, x, "ne"));
    HOSTIR_ASSIGN_OR_RETURN(here, e.apply(OpKind::logical_or, {here, nan}));
  }
  // An index larger than any dimension, valid in all index types of 32 bits or more.
  const Known none = e.integer(std::numeric_limits<int32_t>::max(), index.type);
  HOSTIR_ASSIGN_OR_RETURN(const Known candidates, e.apply(OpKind::select, {here, index, none}));
  HOSTIR_ASSIGN_OR_RETURN(Known place, e.reduced(OpKind::reduce_min, candidates, dims));
  HOSTIR_TRY(s.set(std::move(extreme), 0));
  return s.set(std::move(place), 1);
}

Expected<void> emit_reduce(const OpSite& s) {
  const auto dims = s.op.integers("dimensions");
  const size_t inputs = s.count() / 2;
  if (inputs == 0 || s.count() % 2 != 0)
    return s.fail("import_c2", "takes inputs and as many initial values");
  for (const int64_t d : dims) {
    if (d < 0 || static_cast<size_t>(d) >= s.in(0).type.dims.size())
      return s.fail("import_c2", "no such dimension");
  }
  if (inputs == 2) {
    if (const auto kind = arg_reducer_of(s.function, s.op)) return emit_arg_extreme(s, *kind, dims);
  }
  const auto kind = reducer_of(s.function, s.op);
  if (!kind || inputs != 1)
    return s.emitter.opaque(s, "a reducer that is none of sum, product, maximum, minimum, and, or");
  HOSTIR_ASSIGN_OR_RETURN(Known y, reduce_one(s.emitter, *kind, s.in(0), dims));
  const Known& init = s.in(1);
  if (!is_identity_of(*kind, init)) {
    HOSTIR_ASSIGN_OR_RETURN(const Known wide, s.emitter.broadcast(init, {}, y.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(
        y, s.emitter.apply(combining_op(*kind, y.type.element == "i1"), {y, wide}));
  }
  return s.set(std::move(y));
}

// A window that grows from one end over a whole dimension is a running sum; jnp.cumsum has this
// form.
Expected<void> emit_reduce_window(const OpSite& s) {
  const auto kind = find_op("cumsum");
  const auto window = s.op.integers("window_dimensions");
  const auto padding = s.op.integers("padding");
  const size_t rank = s.count() == 2 ? s.in(0).type.dims.size() : 0;
  if (!kind || reducer_of(s.function, s.op) != ReducerKind::kSum || rank == 0 ||
      window.size() != rank || padding.size() != 2 * rank ||
      !is_identity_of(ReducerKind::kSum, s.in(1))) {
    return s.emitter.opaque(s, "windows");
  }
  std::optional<size_t> dim;
  bool reverse = false;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = s.in(0).type.dims[d];
    const int64_t low = padding[2 * d];
    const int64_t high = padding[2 * d + 1];
    if (window[d] == 1 && low == 0 && high == 0) continue;
    const bool from_left = low == size - 1 && high == 0;
    const bool from_right = low == 0 && high == size - 1;
    if (dim || window[d] != size || (!from_left && !from_right))
      return s.emitter.opaque(s, "windows");
    dim = d;
    reverse = !from_left;
  }
  for (const std::string_view steps : {"window_strides", "base_dilations", "window_dilations"}) {
    for (const int64_t step : s.op.integers(steps)) {
      if (step != 1) return s.emitter.opaque(s, "windows");
    }
  }
  if (!dim) return s.set(s.in(0));
  Attributes attributes;
  attributes.set("dim", static_cast<int64_t>(*dim));
  if (reverse) attributes.set("reverse", true);
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(*kind, {s.in(0)}, std::move(attributes)));
  return s.set(std::move(y));
}

constexpr HandlerRow kReductionRows[] = {
    {"stablehlo.reduce_window", emit_reduce_window},
    {"stablehlo.reduce", emit_reduce, 2},
};

}  // namespace

std::span<const HandlerRow> reduction_handlers() { return kReductionRows; }

}  // namespace hostir::importer
