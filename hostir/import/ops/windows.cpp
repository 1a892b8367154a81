#include "hostir/import/ops/windows.h"

#include <fmt/format.h>

#include <algorithm>

namespace hostir::importer {

namespace {

using Sizes = std::vector<int64_t>;

constexpr int64_t kLargestWindowNumber = int64_t{1} << 31;
constexpr int64_t kMostSlices = 4096;  // of an unfolded dimension

void flatten(const Attr& attr, Sizes& out) {
  if (attr.kind == Attr::Kind::kList) {
    for (const Attr& item : attr.items) flatten(item, out);
  } else if (attr.kind == Attr::Kind::kLiteral) {
    out = attr.integers();
  } else {
    out.push_back(attr.integer);
  }
}

// The numbers under the first of these names, in the operation or in its `window = {...}`.
Sizes numbers_of(const ModuleOp& op, std::initializer_list<std::string_view> names) {
  const Attr* window = op.find("window");
  Sizes out;
  for (const std::string_view name : names) {
    const Attr* attr = op.find(name);
    if (attr == nullptr && window != nullptr) attr = window->find(name);
    if (attr == nullptr) continue;
    flatten(*attr, out);
    break;
  }
  return out;
}

bool is_in_range(int64_t value, int64_t least) {
  return value >= least && value <= kLargestWindowNumber;
}

Expected<Known> pad_op(Emitter& e, const Known& x, double value, const Sizes& low,
                       const Sizes& high, const Sizes& inside) {
  Attributes attributes;
  attributes.set("low", ExprList(low.begin(), low.end()));
  attributes.set("high", ExprList(high.begin(), high.end()));
  if (std::any_of(inside.begin(), inside.end(), [](int64_t n) { return n != 0; }))
    attributes.set("interior", IntList(inside));
  if (value != 0) attributes.set("value", value);
  return e.apply(OpKind::pad, {x}, std::move(attributes));
}

// The value as a double; nullopt if it is not known or not exact.
std::optional<double> exact_number(const Known& x) {
  if (!x.is_number()) return std::nullopt;
  const double value = x.number->get_double(0);
  const bool exact = is_float(x.number->dtype) || (value >= -0x1p53 && value <= 0x1p53);
  return exact ? std::optional(value) : std::nullopt;
}

}  // namespace

int64_t Window::padded_size(int64_t size) const {
  if (!is_in_range(size, 0) || !is_in_range(inside, 0) ||
      !is_in_range(low, -kLargestWindowNumber) || !is_in_range(high, -kLargestWindowNumber)) {
    return -1;
  }
  const int64_t inner = size == 0 ? 0 : (size - 1) * (inside + 1) + 1;
  return inner + low + high;
}

int64_t Window::places(int64_t size) const {
  const int64_t room = padded_size(size) - ((width - 1) * apart + 1);
  return room < 0 ? 0 : room / stride + 1;
}

std::optional<std::vector<Window>> windows_of(const ModuleOp& op, const Sizes& widths) {
  const size_t rank = widths.size();
  const Sizes strides = numbers_of(op, {"window_strides", "stride"});
  const Sizes padding = numbers_of(op, {"padding", "pad"});
  const Sizes inside = numbers_of(op, {"base_dilations", "lhs_dilation", "lhs_dilate"});
  const Sizes apart = numbers_of(op, {"window_dilations", "rhs_dilation", "rhs_dilate"});
  const Sizes reversed = numbers_of(op, {"window_reversal", "reverse"});
  const auto fits = [](const Sizes& list, size_t size) {
    return list.empty() || list.size() == size;
  };
  if (!fits(strides, rank) || !fits(padding, 2 * rank) || !fits(inside, rank) ||
      !fits(apart, rank) || !fits(reversed, rank)) {
    return std::nullopt;
  }
  std::vector<Window> out(rank);
  for (size_t d = 0; d < rank; ++d) {
    Window& w = out[d];
    w.width = widths[d];
    if (!strides.empty()) w.stride = strides[d];
    if (!padding.empty()) w.low = padding[2 * d], w.high = padding[2 * d + 1];
    if (!inside.empty()) w.inside = inside[d] - 1;
    if (!apart.empty()) w.apart = apart[d];
    if (!reversed.empty()) w.reversed = reversed[d] != 0;
    if (!is_in_range(w.width, 1) || !is_in_range(w.stride, 1) || !is_in_range(w.apart, 1) ||
        !is_in_range(w.inside, 0) || !is_in_range(w.low, -kLargestWindowNumber) ||
        !is_in_range(w.high, -kLargestWindowNumber)) {
      return std::nullopt;
    }
  }
  return out;
}

// If the padding value is not a known number, it is selected with a mask: a tensor of `true`,
// padded in the same way.
Expected<Known> padded(Emitter& e, const Known& x, const Known& value, const Sizes& low,
                       const Sizes& high, const Sizes& interior) {
  const size_t rank = x.type.dims.size();
  const auto is_zero = [](int64_t n) { return n == 0; };
  Known y = x;
  Sizes before = low;
  Sizes after = high;
  for (size_t d = 0; d < rank; ++d) {
    before[d] = std::max<int64_t>(low[d], 0);
    after[d] = std::max<int64_t>(high[d], 0);
  }
  const bool grows = !std::all_of(before.begin(), before.end(), is_zero) ||
                     !std::all_of(after.begin(), after.end(), is_zero) ||
                     !std::all_of(interior.begin(), interior.end(), is_zero);
  if (grows) {
    const auto number = exact_number(value);
    HOSTIR_ASSIGN_OR_RETURN(y, pad_op(e, x, number.value_or(0), before, after, interior));
    if (!number) {
      const Known all = e.integer(1, tensor_type("i1", x.type.dims));
      HOSTIR_ASSIGN_OR_RETURN(const Known own, pad_op(e, all, 0, before, after, interior));
      HOSTIR_ASSIGN_OR_RETURN(const Known fill, e.broadcast(value, {}, y.type.dims));
      HOSTIR_ASSIGN_OR_RETURN(y, e.apply(OpKind::select, {own, y, fill}));
    }
  }
  Sizes start(rank);
  Sizes limit = y.type.dims;
  for (size_t d = 0; d < rank; ++d) {
    start[d] = std::max<int64_t>(-low[d], 0);
    limit[d] -= std::max<int64_t>(-high[d], 0);
  }
  return e.sliced(y, start, limit, Sizes(rank, 1));
}

Expected<Known> padded(Emitter& e, const Known& x, const Known& value,
                       const std::vector<Window>& windows) {
  const size_t rank = x.type.dims.size();
  Sizes low(rank), high(rank), inside(rank);
  for (size_t d = 0; d < rank; ++d) {
    low[d] = windows[d].low;
    high[d] = windows[d].high;
    inside[d] = windows[d].inside;
  }
  return padded(e, x, value, low, high, inside);
}

Expected<Known> every(Emitter& e, const Known& x, size_t d, int64_t start, int64_t count,
                      int64_t step) {
  Sizes lo(x.type.dims.size(), 0);
  Sizes hi = x.type.dims;
  Sizes by(lo.size(), 1);
  lo[d] = start;
  hi[d] = start + (count - 1) * step + 1;
  by[d] = count > 1 ? step : 1;
  return e.sliced(x, lo, hi, by);
}

// One slice for each element of the window or for each of its places, whichever are fewer.
Expected<Known> unfolded(Emitter& e, const Known& x, size_t d, const Window& w) {
  Window inner = w;
  inner.low = inner.high = inner.inside = 0;
  const int64_t places = inner.places(x.type.dims[d]);
  const bool by_element = w.width <= places;
  const int64_t count = by_element ? w.width : places;
  if (count > kMostSlices) {
    return fail_at(ErrorKind::kInvalid, "import_c4",
                   fmt::format("a window of {} elements at {} places needs {} slices; at most {}",
                               w.width, places, count, kMostSlices),
                   e.place());
  }
  std::vector<Known> parts;
  for (int64_t i = 0; i < count; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(const Known row, by_element
                                                 ? every(e, x, d, i * w.apart, places, w.stride)
                                                 : every(e, x, d, i * w.stride, w.width, w.apart));
    Sizes dims = row.type.dims;
    dims.insert(dims.begin() + static_cast<int64_t>(by_element ? d : d + 1), 1);
    HOSTIR_ASSIGN_OR_RETURN(Known part, e.reshaped(row, std::move(dims)));
    parts.push_back(std::move(part));
  }
  return e.concatenated(std::move(parts), by_element ? d : d + 1);
}

}  // namespace hostir::importer
