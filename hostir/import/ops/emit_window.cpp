// reduce_window: pooling and running reductions. select_and_scatter: the gradient of max pooling.

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/emit/handlers.h"
#include "hostir/import/emit/reducer.h"
#include "hostir/import/ops/windows.h"

namespace hostir::importer {

namespace {

using Several = std::vector<Known>;

constexpr int64_t kMostTaps = 32;  // of a window that is combined element by element

Expected<Several> every_of(Emitter& e, const Several& all, size_t d, int64_t start, int64_t count,
                           int64_t step) {
  Several out;
  for (const Known& x : all) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, every(e, x, d, start, count, step));
    out.push_back(std::move(y));
  }
  return out;
}

// Splits dimension `d` in two sizes, or joins it with the next one into one size.
Expected<Several> reshaped_at(Emitter& e, const Several& all, size_t d,
                              const std::vector<int64_t>& sizes) {
  Several out;
  for (const Known& x : all) {
    std::vector<int64_t> dims = x.type.dims;
    const auto at = dims.begin() + static_cast<std::ptrdiff_t>(d);
    const size_t replaced = sizes.size() == 1 ? 2 : 1;
    dims.insert(dims.erase(at, at + static_cast<std::ptrdiff_t>(replaced)), sizes.begin(),
                sizes.end());
    HOSTIR_ASSIGN_OR_RETURN(Known y, e.reshaped(x, std::move(dims)));
    out.push_back(std::move(y));
  }
  return out;
}

// Combines the window at every place of dimension `d`, which is padded already. Goes element by
// element, so that along a cut dimension the elements are slices of one value and share an
// exchange. Wide windows are built by doubling, in about 2 log2(width) steps. Windows that lie side
// by side get a dimension of their own, which is not cut.
Expected<Several> reduced_windows(Emitter& e, const Combiner& combine, const Several& all, size_t d,
                                  const Window& w) {
  const int64_t places = all[0].type.dims[d] - (w.width - 1) * w.apart;
  Several out;
  for (int64_t i = 0; i < w.width && w.width <= kMostTaps; ++i) {
    const int64_t count = (places - 1) / w.stride + 1;
    HOSTIR_ASSIGN_OR_RETURN(Several part, every_of(e, all, d, i * w.apart, count, w.stride));
    if (i > 0) {
      HOSTIR_ASSIGN_OR_RETURN(part, combine(std::move(out), std::move(part)));
    }
    out = std::move(part);
  }
  if (!out.empty()) return out;
  const int64_t size_of_all = all[0].type.dims[d];
  if (w.stride >= w.width * w.apart && size_of_all % w.stride == 0) {
    Window own = w;
    own.stride = w.stride - (w.width - 1) * w.apart;  // one place
    HOSTIR_ASSIGN_OR_RETURN(out, reshaped_at(e, all, d, {size_of_all / w.stride, w.stride}));
    HOSTIR_ASSIGN_OR_RETURN(out, reduced_windows(e, combine, out, d + 1, own));
    return reshaped_at(e, out, d, {size_of_all / w.stride});
  }
  Several block = all;  // windows of `size` elements
  int64_t covered = 0;
  for (int64_t size = 1;; size *= 2) {
    if ((w.width & size) != 0) {
      HOSTIR_ASSIGN_OR_RETURN(Several part, every_of(e, block, d, covered * w.apart, places, 1));
      if (!out.empty()) {
        HOSTIR_ASSIGN_OR_RETURN(part, combine(std::move(out), std::move(part)));
      }
      out = std::move(part);
      covered += size;
    }
    if (covered == w.width) break;
    const int64_t length = block[0].type.dims[d] - size * w.apart;
    HOSTIR_ASSIGN_OR_RETURN(Several near, every_of(e, block, d, 0, length, 1));
    HOSTIR_ASSIGN_OR_RETURN(Several far, every_of(e, block, d, size * w.apart, length, 1));
    HOSTIR_ASSIGN_OR_RETURN(block, combine(std::move(near), std::move(far)));
  }
  if (w.stride == 1) return out;
  return every_of(e, out, d, 0, (places - 1) / w.stride + 1, w.stride);
}

// A window that grows from one end over a whole dimension.
bool is_running(const Window& w, int64_t size) {
  const bool from_left = w.low == size - 1 && w.high == 0;
  const bool from_right = w.low == 0 && w.high == size - 1;
  return w.width == size && w.stride == 1 && w.apart == 1 && w.inside == 0 &&
         (from_left || from_right);
}

Expected<Known> running_sum(Emitter& e, const Known& x, size_t d, bool reverse) {
  Attributes attributes;
  attributes.set("dim", static_cast<int64_t>(d));
  if (reverse) attributes.set("reverse", true);
  return e.apply(OpKind::cumsum, {x}, std::move(attributes));
}

// The windows of an operation with `window_dimensions`; nullopt if a window does not fit anywhere.
std::optional<std::vector<Window>> fitting_windows(const OpSite& s) {
  const auto& dims = s.in(0).type.dims;
  auto out = windows_of(s.op, s.op.integers("window_dimensions"));
  if (!out || out->size() != dims.size()) return std::nullopt;
  for (size_t d = 0; d < dims.size(); ++d) {
    if ((*out)[d].places(dims[d]) < 1) return std::nullopt;
  }
  return out;
}

// Running sums, the form of jnp.cumsum, are an op; other windows are combined dimension by
// dimension.
Expected<void> emit_reduce_window(const OpSite& s) {
  Emitter& e = s.emitter;
  const size_t count = s.count() / 2;
  const Combiner combine(s);
  auto windows = fitting_windows(s);
  if (!combine.is_valid() || !windows || count * 2 != s.count() || s.op.results.size() != count)
    return e.opaque(s, "its reducer is not element by element, or a window has no place");
  const bool plain =
      count == 1 && combine.kind().has_value() && is_identity_of(*combine.kind(), s.in(1));
  Several all(s.op.results.size());
  for (size_t i = 0; i < count; ++i) {
    all[i] = s.in(i);
    if (all[i].type.dims != s.in(0).type.dims)
      return s.fail("import_c2", "its operands have different shapes");
  }
  const bool sums = plain && combine.kind() == ReducerKind::kSum && all[0].type.element != "i1";
  for (size_t d = 0; sums && d < windows->size(); ++d) {
    Window& w = (*windows)[d];
    if (w.is_trivial() || !is_running(w, all[0].type.dims[d])) continue;
    HOSTIR_ASSIGN_OR_RETURN(all[0], running_sum(e, all[0], d, w.low == 0));
    w = Window();
  }
  for (size_t i = 0; i < count; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(all[i], padded(e, all[i], s.in(count + i), *windows));
  }
  for (size_t d = 0; d < windows->size(); ++d) {
    const Window& w = (*windows)[d];
    if (w.width == 1 && w.stride == 1) continue;
    HOSTIR_ASSIGN_OR_RETURN(all, reduced_windows(e, combine, all, d, w));
  }
  if (!plain) {
    Several inits;
    for (size_t i = 0; i < count; ++i) {
      HOSTIR_ASSIGN_OR_RETURN(Known init, e.broadcast(s.in(count + i), {}, all[i].type.dims));
      inits.push_back(std::move(init));
    }
    HOSTIR_ASSIGN_OR_RETURN(all, combine(std::move(inits), std::move(all)));
  }
  for (size_t i = 0; i < count; ++i) HOSTIR_TRY(s.set(std::move(all[i]), i));
  return {};
}

constexpr int64_t kMostWindowElements = 4096;
constexpr int64_t kMostPlaces = int64_t{1} << 20;  // along one dimension

class SelectAndScatter {
 public:
  explicit SelectAndScatter(const OpSite& s)
      : s_(s), e_(s.emitter), select_(s, 0), scatter_(s, 1), sizes_(s.in(0).type.dims) {}

  // First finds the chosen element of each window, as an index into the window. Then, for each
  // index, places the source value where that index was chosen. The result is the sum over all
  // indices.
  Expected<void> emit() {
    const auto windows = fitting_windows(s_);
    int64_t elements = 1;
    for (size_t d = 0; windows && d < windows->size(); ++d) {
      const Window& w = (*windows)[d];
      elements = w.width > kMostWindowElements ? kMostWindowElements + 1 : elements * w.width;
      if (elements > kMostWindowElements) break;
      const bool dilated = w.apart != 1 || w.inside != 0;
      if (dilated || w.places(sizes_[d]) != s_.in(1).type.dims[d])
        elements = kMostWindowElements + 1;
    }
    const bool sums = scatter_.kind() == ReducerKind::kSum && s_.in(1).type.element != "i1";
    if (!windows || !select_.is_valid() || !sums || elements > kMostWindowElements)
      return e_.opaque(s_, "its regions or windows are in an unknown form");
    windows_ = *windows;
    const Known zero = e_.number(0, tensor_type(s_.in(0).type.element, {}));
    HOSTIR_ASSIGN_OR_RETURN(const Known operand, padded(e_, s_.in(0), zero, windows_));
    HOSTIR_ASSIGN_OR_RETURN(const Known chosen, choose(operand, elements));
    const ModuleType& type = s_.in(1).type;
    const Known none = e_.number(0, type);
    std::optional<Known> sum;
    for (int64_t i = 0; i < elements; ++i) {
      HOSTIR_ASSIGN_OR_RETURN(const Known here,
                              e_.compared(chosen, e_.integer(i, chosen.type), "eq"));
      HOSTIR_ASSIGN_OR_RETURN(const Known part, e_.apply(OpKind::select, {here, s_.in(1), none}));
      HOSTIR_ASSIGN_OR_RETURN(Known moved, moved_back(part, i));
      if (sum) {
        HOSTIR_ASSIGN_OR_RETURN(moved, e_.apply(OpKind::add, {*sum, moved}));
      }
      sum = std::move(moved);
    }
    if (!is_identity_of(ReducerKind::kSum, s_.in(2))) {
      HOSTIR_ASSIGN_OR_RETURN(const Known init, e_.broadcast(s_.in(2), {}, sum->type.dims));
      HOSTIR_ASSIGN_OR_RETURN(sum, e_.apply(OpKind::add, {*sum, init}));
    }
    return s_.set(std::move(*sum));
  }

 private:
  // The offsets in the window of its element `i`, counted in row-major order.
  std::vector<int64_t> offsets(int64_t i) const {
    std::vector<int64_t> out(windows_.size());
    for (size_t d = windows_.size(); d-- > 0;) {
      out[d] = i % windows_[d].width;
      i /= windows_[d].width;
    }
    return out;
  }

  // The mask of places where element `at` of the window is not padding; nullopt if it is padding
  // everywhere.
  Expected<std::optional<Known>> inside(const std::vector<int64_t>& at) const {
    std::optional<Known> out;
    const auto& places = s_.in(1).type.dims;
    for (size_t d = 0; d < at.size(); ++d) {
      const Window& w = windows_[d];
      if (!w.pads()) continue;
      if (places[d] > kMostPlaces)
        return s_.fail("import_c4", fmt::format("{} places of a padded window; at most {}",
                                                places[d], kMostPlaces));
      Tensor row = Tensor::zeros(DType::kI1, {places[d]});
      bool all = true;
      for (int64_t p = 0; p < places[d]; ++p) {
        const int64_t here = p * w.stride + at[d] - w.low;
        const bool is_inside = here >= 0 && here < sizes_[d];
        row.set_int(p, is_inside ? 1 : 0);
        all = all && is_inside;
      }
      if (all) continue;
      Known known;
      known.type = tensor_type("i1", {places[d]});
      known.number = std::move(row);
      HOSTIR_ASSIGN_OR_RETURN(Known wide, e_.broadcast(known, {static_cast<int64_t>(d)}, places));
      if (out) {
        HOSTIR_ASSIGN_OR_RETURN(wide, e_.apply(OpKind::logical_and, {*out, wide}));
      }
      out = std::move(wide);
    }
    return out;
  }

  // The number in the window of the element that each place selects; -1 if all are padding, which
  // is never selected.
  Expected<Known> choose(const Known& operand, int64_t elements) const {
    const Known none = e_.integer(-1, tensor_type("i32", s_.in(1).type.dims));
    std::optional<Known> best;
    std::optional<Known> found;  // where an element is selected; nullopt: everywhere
    Known number = none;
    for (int64_t i = 0; i < elements; ++i) {
      const auto at = offsets(i);
      std::vector<int64_t> limit;
      std::vector<int64_t> stride;
      for (size_t d = 0; d < at.size(); ++d) {
        limit.push_back(at[d] + (s_.in(1).type.dims[d] - 1) * windows_[d].stride + 1);
        stride.push_back(windows_[d].stride);
      }
      HOSTIR_ASSIGN_OR_RETURN(const Known x, e_.sliced(operand, at, limit, stride));
      HOSTIR_ASSIGN_OR_RETURN(const auto is_inside, inside(at));
      Known own = e_.integer(i, none.type);
      if (is_inside) {
        HOSTIR_ASSIGN_OR_RETURN(own, e_.apply(OpKind::select, {*is_inside, own, none}));
      }
      if (!best) {
        best = std::move(x);
        number = std::move(own);
        found = is_inside;
        continue;
      }
      HOSTIR_ASSIGN_OR_RETURN(const Several selected, select_({*best, x}));
      if (selected.size() != 1)
        return s_.fail("import_c5", "its first region does not give one value");
      Known keeps = selected[0];
      if (is_inside) {
        HOSTIR_ASSIGN_OR_RETURN(const Known outside, e_.apply(OpKind::logical_not, {*is_inside}));
        HOSTIR_ASSIGN_OR_RETURN(keeps, e_.apply(OpKind::logical_or, {outside, keeps}));
      }
      if (found) {
        HOSTIR_ASSIGN_OR_RETURN(keeps, e_.apply(OpKind::logical_and, {*found, keeps}));
      }
      HOSTIR_ASSIGN_OR_RETURN(best, e_.apply(OpKind::select, {keeps, *best, x}));
      HOSTIR_ASSIGN_OR_RETURN(number, e_.apply(OpKind::select, {keeps, number, own}));
      if (!found) continue;
      if (!is_inside) {
        found.reset();
      } else {
        HOSTIR_ASSIGN_OR_RETURN(found, e_.apply(OpKind::logical_or, {*found, *is_inside}));
      }
    }
    return number;
  }

  Expected<Known> moved_back(const Known& part, int64_t i) const {
    const auto at = offsets(i);
    std::vector<int64_t> low, high, inside;
    for (size_t d = 0; d < at.size(); ++d) {
      const Window& w = windows_[d];
      low.push_back(at[d] - w.low);
      inside.push_back(w.stride - 1);
      high.push_back(sizes_[d] - low[d] - ((part.type.dims[d] - 1) * w.stride + 1));
    }
    const Known zero = e_.number(0, tensor_type(part.type.element, {}));
    return padded(e_, part, zero, low, high, inside);
  }

  const OpSite& s_;
  Emitter& e_;
  ElementwiseRegion select_;
  Combiner scatter_;
  std::vector<int64_t> sizes_;
  std::vector<Window> windows_;
};

Expected<void> emit_select_and_scatter(const OpSite& s) {
  if (s.in(1).type.dims.size() != s.in(0).type.dims.size() || !s.in(2).type.dims.empty())
    return s.fail("import_c2", "needs an operand and a source of one rank, and a scalar");
  return SelectAndScatter(s).emit();
}

constexpr HandlerRow kWindowRows[] = {
    {"stablehlo.reduce_window", emit_reduce_window, 2},
    {"stablehlo.select_and_scatter", emit_select_and_scatter, 3},
};

}  // namespace

std::span<const HandlerRow> window_handlers() { return kWindowRows; }

}  // namespace hostir::importer
