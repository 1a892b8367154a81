// reduce: sums, products, extremes, logic, argmax and argmin; any other region step by step.

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/emit/handlers.h"
#include "hostir/import/emit/reducer.h"
#include "hostir/import/ops/windows.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

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

// True if every row along `dims` has an index that is not above the initial one. Then the initial
// index does not matter, because it counts only in a row where every element equals the initial
// value.
bool covers_initial(const OpSite& s, const std::vector<int64_t>& dims) {
  const Known& index = s.in(1);
  const Known& initial = s.in(3);
  if (!initial.is_number() || index.type.element_count() == 0) return false;
  const int64_t given = initial.number->get_int(0);
  if (given < 0) return false;  // or a ui64 above int64
  if (index.is_number() && (index.splat || index.type.element_count() == 1)) {
    const int64_t all = index.number->get_int(0);
    return all >= 0 ? all <= given : !is_unsigned(index.number->dtype);
  }
  if (!index.value.valid() || !index.lead.empty()) return false;
  const Function& target = s.emitter.target();
  const InstrId by = target.value(index.value).defined_by;
  if (!by.valid() || target.instr(by).kind != OpKind::iota) return false;
  const auto counted = target.instr(by).attributes.get_or<int64_t>("dim", -1);
  return contains(dims, counted);
}

// If the extreme of a row is the initial value, its index is the initial index.
Expected<Known> with_initial_index(const OpSite& s, const Known& extreme, Known place) {
  Emitter& e = s.emitter;
  Known value = s.in(2);
  if (value.type.element != extreme.type.element) {
    HOSTIR_ASSIGN_OR_RETURN(value, e.cast(value, extreme.type.element));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known values, e.broadcast(value, {}, extreme.type.dims));
  HOSTIR_ASSIGN_OR_RETURN(const Known indices, e.broadcast(s.in(3), {}, place.type.dims));
  HOSTIR_ASSIGN_OR_RETURN(const Known same, e.compared(extreme, values, "eq"));
  HOSTIR_ASSIGN_OR_RETURN(const Known smaller, e.apply(OpKind::minimum, {place, indices}));
  return e.apply(OpKind::select, {same, smaller, place});
}

// argmax or argmin over one dimension: the extreme, then its smallest index. NaN counts as extreme.
Expected<void> emit_arg_extreme(const OpSite& s, ReducerKind kind,
                                const std::vector<int64_t>& dims) {
  Emitter& e = s.emitter;
  Known x = s.in(0);
  const bool is_bool = x.type.element == "i1";
  if (is_bool) {
    HOSTIR_ASSIGN_OR_RETURN(x, e.cast(x, "i32"));
  }
  const Known& index = s.in(1);
  HOSTIR_ASSIGN_OR_RETURN(Known extreme, e.reduced(reduction_op(kind), x, dims));
  std::vector<int64_t> kept;
  for (size_t d = 0; d < x.type.dims.size(); ++d) {
    if (!contains(dims, static_cast<int64_t>(d))) kept.push_back(static_cast<int64_t>(d));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known wide, e.broadcast(extreme, kept, x.type.dims));
  HOSTIR_ASSIGN_OR_RETURN(Known here, e.compared(x, wide, "eq"));
  if (is_float(*x.type.dtype())) {
    HOSTIR_ASSIGN_OR_RETURN(const Known nan, e.compared(x, x, "ne"));
    HOSTIR_ASSIGN_OR_RETURN(here, e.apply(OpKind::logical_or, {here, nan}));
  }
  const Known none = e.integer(greatest(*index.type.dtype()), index.type);
  HOSTIR_ASSIGN_OR_RETURN(const Known candidates, e.apply(OpKind::select, {here, index, none}));
  HOSTIR_ASSIGN_OR_RETURN(Known place, e.reduced(OpKind::reduce_min, candidates, dims));
  if (!covers_initial(s, dims)) {
    HOSTIR_ASSIGN_OR_RETURN(place, with_initial_index(s, extreme, std::move(place)));
  }
  if (is_bool) {
    HOSTIR_ASSIGN_OR_RETURN(extreme, e.compared(extreme, e.integer(0, extreme.type), "ne"));
  }
  HOSTIR_TRY(s.set(std::move(extreme), 0));
  return s.set(std::move(place), 1);
}

// A reducer without an op in the language combines neighbours, in log2(size) rounds per dimension.
Expected<void> emit_any_reduce(const OpSite& s, const Combiner& combine,
                               std::vector<int64_t> dims) {
  if (!combine.is_valid()) return s.emitter.opaque(s, "its reducer is not element by element");
  Emitter& e = s.emitter;
  const size_t count = s.count() / 2;
  std::vector<Known> values;
  std::vector<Known> inits;
  for (size_t i = 0; i < count; ++i) {
    values.push_back(s.in(i));
    HOSTIR_ASSIGN_OR_RETURN(Known init, e.broadcast(s.in(count + i), {}, s.result_type().dims));
    inits.push_back(std::move(init));
    if (s.in(i).type.dims != s.in(0).type.dims)
      return s.fail("import_c2", "its operands have different shapes");
  }
  const auto half = [&](int64_t d, int64_t start, int64_t pairs) -> Expected<std::vector<Known>> {
    std::vector<Known> out;
    for (const Known& x : values) {
      HOSTIR_ASSIGN_OR_RETURN(Known y, every(e, x, static_cast<size_t>(d), start, pairs, 2));
      out.push_back(std::move(y));
    }
    return out;
  };
  bool empty = false;
  for (const int64_t d : dims) {
    const auto dim = static_cast<size_t>(d);
    empty = empty || values[0].type.dims[dim] == 0;
    for (int64_t size = values[0].type.dims[dim]; size > 1; size = (size + 1) / 2) {
      HOSTIR_ASSIGN_OR_RETURN(auto left, half(d, 0, size / 2));
      HOSTIR_ASSIGN_OR_RETURN(auto right, half(d, 1, size / 2));
      HOSTIR_ASSIGN_OR_RETURN(auto both, combine(std::move(left), std::move(right)));
      if (size % 2 != 0) {  // the last has no neighbour
        HOSTIR_ASSIGN_OR_RETURN(const auto last, half(d, size - 1, 1));
        for (size_t i = 0; i < count; ++i) {
          HOSTIR_ASSIGN_OR_RETURN(both[i], e.concatenated({both[i], last[i]}, dim));
        }
      }
      values = std::move(both);
    }
  }
  for (size_t i = 0; i < count && !empty; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(values[i], e.reshaped(values[i], s.result_type().dims));
  }
  if (!empty) {
    HOSTIR_ASSIGN_OR_RETURN(inits, combine(std::move(inits), std::move(values)));
  }
  for (size_t i = 0; i < count; ++i) HOSTIR_TRY(s.set(std::move(inits[i]), i));
  return {};
}

Expected<void> emit_reduce(const OpSite& s) {
  const auto dims = s.op.integers("dimensions");
  const size_t inputs = s.count() / 2;
  if (inputs == 0 || s.count() % 2 != 0)
    return s.fail("import_c2", "takes inputs and equally many initial values");
  for (const int64_t d : dims) {
    if (d < 0 || static_cast<size_t>(d) >= s.in(0).type.dims.size())
      return s.fail("import_c2", fmt::format("there is no dimension {}", d));
  }
  if (inputs == 2) {
    const auto kind = arg_reducer_of(s.function, s.op);
    if (kind && is_identity_of(*kind, s.in(2))) return emit_arg_extreme(s, *kind, dims);
  }
  const Combiner combine(s);
  const auto kind = combine.kind();
  if (!kind || inputs != 1) return emit_any_reduce(s, combine, dims);
  HOSTIR_ASSIGN_OR_RETURN(Known y, reduce_one(s.emitter, *kind, s.in(0), dims));
  const Known& init = s.in(1);
  if (!is_identity_of(*kind, init)) {
    HOSTIR_ASSIGN_OR_RETURN(const Known wide, s.emitter.broadcast(init, {}, y.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(
        y, s.emitter.apply(combining_op(*kind, y.type.element == "i1"), {y, wide}));
  }
  return s.set(std::move(y));
}

Expected<void> emit_map(const OpSite& s) {
  const ElementwiseRegion region(s);
  if (!region.is_valid()) return s.emitter.opaque(s, "its region is not element by element");
  std::vector<Known> operands;
  for (size_t i = 0; i < s.count(); ++i) {
    if (s.in(i).type.dims != s.in(0).type.dims)
      return s.fail("import_c2", "its operands have different shapes");
    operands.push_back(s.in(i));
  }
  HOSTIR_ASSIGN_OR_RETURN(auto results, region(std::move(operands)));
  if (results.size() != s.op.results.size())
    return s.fail("import_c5", "its region gives a different number of values");
  for (size_t i = 0; i < results.size(); ++i) HOSTIR_TRY(s.set(std::move(results[i]), i));
  return {};
}

constexpr HandlerRow kReductionRows[] = {
    {"stablehlo.map", emit_map},
    {"stablehlo.reduce", emit_reduce, 2},
};

}  // namespace

std::span<const HandlerRow> reduction_handlers() { return kReductionRows; }

}  // namespace hostir::importer
