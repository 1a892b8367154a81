// reduce with the regions that frameworks emit: sums, products, extremes, logic, argmax and argmin.

#include <fmt/format.h>

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
  Known x = s.in(0);
  const bool is_bool = x.type.element == "i1";
  if (is_bool) {
    HOSTIR_ASSIGN_OR_RETURN(x, e.cast(x, "i32"));
  }
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
  if (is_bool) {
    HOSTIR_ASSIGN_OR_RETURN(extreme, e.compared(extreme, e.integer(0, extreme.type), "ne"));
  }
  HOSTIR_TRY(s.set(std::move(extreme), 0));
  return s.set(std::move(place), 1);
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
    if (const auto kind = arg_reducer_of(s.function, s.op)) return emit_arg_extreme(s, *kind, dims);
  }
  const auto kind = reducer_of(s.function, s.op);
  if (!kind || inputs != 1)
    return s.emitter.opaque(
        s, "its reducer is not one of sum, product, maximum, minimum, \"and\" and \"or\"");
  HOSTIR_ASSIGN_OR_RETURN(Known y, reduce_one(s.emitter, *kind, s.in(0), dims));
  const Known& init = s.in(1);
  if (!is_identity_of(*kind, init)) {
    HOSTIR_ASSIGN_OR_RETURN(const Known wide, s.emitter.broadcast(init, {}, y.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(
        y, s.emitter.apply(combining_op(*kind, y.type.element == "i1"), {y, wide}));
  }
  return s.set(std::move(y));
}

// A window of `width` elements, `apart` elements between them, at every place of dimension `d`:
// doubled windows are combined, so it takes about 2 log2(width) operations.
Expected<Known> windowed(Emitter& e, ReducerKind kind, const Known& x, size_t d, int64_t width,
                         int64_t apart) {
  const int64_t places = x.type.dims[d] - (width - 1) * apart;
  const OpKind op = combining_op(kind, x.type.element == "i1");
  const auto from = [&](const Known& of, int64_t start, int64_t count) {
    std::vector<int64_t> lo(of.type.dims.size(), 0);
    std::vector<int64_t> hi = of.type.dims;
    lo[d] = start;
    hi[d] = start + count;
    return e.sliced(of, lo, hi, std::vector<int64_t>(lo.size(), 1));
  };
  Known block = x;  // windows of `size` elements
  std::optional<Known> out;
  int64_t covered = 0;
  for (int64_t size = 1;; size *= 2) {
    if ((width & size) != 0) {
      HOSTIR_ASSIGN_OR_RETURN(Known part, from(block, covered * apart, places));
      if (out) {
        HOSTIR_ASSIGN_OR_RETURN(part, e.apply(op, {*out, part}));
      }
      out = std::move(part);
      covered += size;
    }
    if (covered == width) return *out;
    const int64_t length = block.type.dims[d] - size * apart;
    HOSTIR_ASSIGN_OR_RETURN(const Known near, from(block, 0, length));
    HOSTIR_ASSIGN_OR_RETURN(const Known far, from(block, size * apart, length));
    HOSTIR_ASSIGN_OR_RETURN(block, e.apply(op, {near, far}));
  }
}

struct Window {
  int64_t width = 1, stride = 1, apart = 1, low = 0, high = 0;
  bool is_trivial() const { return width == 1 && stride == 1 && low == 0 && high == 0; }
};

// The windows per dimension; nullopt for a form that is not handled.
std::optional<std::vector<Window>> windows_of(const OpSite& s) {
  const size_t rank = s.in(0).type.dims.size();
  std::vector<Window> out(rank);
  const auto width = s.op.integers("window_dimensions");
  const auto padding = s.op.integers("padding");
  const auto strides = s.op.integers("window_strides");
  const auto apart = s.op.integers("window_dilations");
  for (const int64_t step : s.op.integers("base_dilations")) {
    if (step != 1) return std::nullopt;
  }
  if (width.size() != rank) return std::nullopt;
  for (size_t d = 0; d < rank; ++d) {
    out[d].width = width[d];
    if (padding.size() == 2 * rank) out[d].low = padding[2 * d], out[d].high = padding[2 * d + 1];
    if (strides.size() == rank) out[d].stride = strides[d];
    if (apart.size() == rank) out[d].apart = apart[d];
    const int64_t room =
        s.in(0).type.dims[d] + out[d].low + out[d].high - (width[d] - 1) * out[d].apart;
    if (width[d] < 1 || out[d].stride < 1 || out[d].apart < 1 || out[d].low < 0 ||
        out[d].high < 0 || room < 1)
      return std::nullopt;
  }
  return out;
}

Expected<Known> padded_window(Emitter& e, const Known& x, const Known& value, size_t d,
                              const Window& w) {
  std::vector<Known> parts;
  for (const int64_t size : {w.low, int64_t{0}, w.high}) {
    std::vector<int64_t> dims = x.type.dims;
    dims[d] = size;
    if (parts.size() == 1) {
      parts.push_back(x);
    } else {
      HOSTIR_ASSIGN_OR_RETURN(Known fill, e.broadcast(value, {}, dims));
      parts.push_back(std::move(fill));
    }
  }
  return e.concatenated(std::move(parts), d);
}

// A window that grows from one end over a whole dimension is a running sum, the form of jnp.cumsum.
// Other windows are combined dimension by dimension.
Expected<void> emit_reduce_window(const OpSite& s) {
  Emitter& e = s.emitter;
  const auto kind = reducer_of(s.function, s.op);
  const auto windows = s.count() == 2 ? windows_of(s) : std::nullopt;
  if (!kind || !windows || !is_identity_of(*kind, s.in(1))) return e.opaque(s, "windows");
  Known y = s.in(0);
  for (size_t d = 0; d < windows->size(); ++d) {
    const Window& w = (*windows)[d];
    if (w.is_trivial()) continue;
    const int64_t size = y.type.dims[d];
    const bool from_left = w.low == size - 1 && w.high == 0;
    const bool from_right = w.low == 0 && w.high == size - 1;
    if (kind == ReducerKind::kSum && y.type.element != "i1" && w.width == size && w.stride == 1 &&
        w.apart == 1 && (from_left || from_right)) {
      Attributes attributes;
      attributes.set("dim", static_cast<int64_t>(d));
      if (!from_left) attributes.set("reverse", true);
      HOSTIR_ASSIGN_OR_RETURN(y, e.apply(OpKind::cumsum, {y}, std::move(attributes)));
      continue;
    }
    HOSTIR_ASSIGN_OR_RETURN(y, padded_window(e, y, s.in(1), d, w));
    HOSTIR_ASSIGN_OR_RETURN(y, windowed(e, *kind, y, d, w.width, w.apart));
    if (w.stride == 1) continue;
    std::vector<int64_t> stride(y.type.dims.size(), 1);
    stride[d] = w.stride;
    HOSTIR_ASSIGN_OR_RETURN(
        y, e.sliced(y, std::vector<int64_t>(stride.size(), 0), y.type.dims, stride));
  }
  return s.set(std::move(y));
}

constexpr HandlerRow kReductionRows[] = {
    {"stablehlo.reduce_window", emit_reduce_window},
    {"stablehlo.reduce", emit_reduce, 2},
};

}  // namespace

std::span<const HandlerRow> reduction_handlers() { return kReductionRows; }

}  // namespace hostir::importer
