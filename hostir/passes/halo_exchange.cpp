#include "hostir/passes/halo_exchange.h"

#include <algorithm>
#include <utility>

#include "hostir/passes/fusion_info.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

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

bool all_are(const IntList& list, int64_t number) {
  return std::all_of(list.begin(), list.end(), [&](int64_t n) { return n == number; });
}

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The elements of the `nth` part away that belong to a border of `reach` elements.
int64_t border_of(int64_t reach, int64_t nth, int64_t block) {
  return std::clamp<int64_t>(reach - (nth - 1) * block, 0, block);
}

}  // namespace

HaloExchanges::HaloExchanges(const Function& source, const std::vector<RequestedSharding>& requests,
                             std::span<const std::string> keep)
    : source_(source),
      requests_(requests),
      views_(source.values.size()),
      skipped_(source.values.size(), false),
      group_of_(source.values.size()) {
  for (const InstrId id : body_of(source)) {
    const Instruction& i = source.instr(id);
    if (i.kind != OpKind::slice && i.kind != OpKind::pad) continue;
    std::optional<View> view = view_of(i);
    if (!view) continue;
    const ValueId made = i.results.front();
    windows_[view->root].values.push_back(made);
    views_[made.index] = std::move(view);
  }
  if (windows_.empty()) return;
  users_ = uses_of(source);
  kept_.assign(source.values.size(), false);
  for (size_t v = 0; v < kept_.size(); ++v) kept_[v] = contains(keep, source.values[v].name);
}

bool HaloExchanges::is_cut(ValueId value, size_t d) const {
  return !requests_[value.index].sharding.dims[d].axes.empty();
}

std::optional<HaloExchanges::View> HaloExchanges::view_of(const Instruction& i) const {
  const ValueId operand = i.operands.front().value;
  const auto before = constant_extents(tensor_type(source_, operand).shape);
  const auto after = constant_extents(tensor_type(source_, i.results.front()).shape);
  const bool is_slice = i.kind == OpKind::slice;
  const auto low = numbers_of(i, is_slice ? "start" : "low");
  const auto high = is_slice ? low : numbers_of(i, "high");
  const bool is_dense = all_are(i.attributes.get_or<IntList>("interior", {}), 0);
  if (!before || !after || !low || !high || !is_dense) return std::nullopt;
  const auto stride = i.attributes.get_or<IntList>("stride", IntList(before->size(), 1));
  const auto moves_cut = [&](ValueId root) {
    for (size_t d = 0; d < before->size(); ++d) {
      if (((*low)[d] != 0 || (*before)[d] != (*after)[d]) && is_cut(root, d)) return true;
    }
    return false;
  };
  const std::vector<int64_t> ones(before->size(), 1);
  View fresh{operand, std::vector<int64_t>(before->size(), 0), ones, *before, std::nullopt, 0};
  const auto extended = [&](View view) -> std::optional<View> {
    if (!all_are(view.stride, 1)) return std::nullopt;
    if (!is_slice) {
      const double value = i.attributes.get_or<double>("value", 0);
      if (view.fill && *view.fill != value) return std::nullopt;
      view.fill = value;
    }
    const Shape& whole = tensor_type(source_, view.root).shape;
    for (size_t d = 0; d < after->size(); ++d) {
      const int64_t end = view.end(d);
      // The window has the fill value only where the root has no elements.
      if (!is_slice && (*low)[d] > 0 && view.offset[d] > 0) return std::nullopt;
      if (!is_slice && (*high)[d] > 0 && end < whole[d].simplified().value()) return std::nullopt;
      view.offset[d] += is_slice ? (*low)[d] : -(*low)[d];
    }
    view.size = *after;
    view.stride = stride;
    ++view.length;
    return view;
  };
  const auto& chain = views_[operand.index];
  if (chain && moves_cut(chain->root)) {
    if (auto view = extended(*chain)) return view;
  }
  return moves_cut(operand) ? extended(std::move(fresh)) : std::nullopt;
}

std::optional<ValueId> HaloExchanges::root_of(ValueId value) const {
  if (value.index >= views_.size() || !views_[value.index]) return std::nullopt;
  return views_[value.index]->root;
}

// True if the tap can share the exchange: it may be cut as the root is, into parts of the same size
// as the other taps.
bool HaloExchanges::joins(const Mesh& mesh, const Group& group, ValueId tap) const {
  const View& view = *views_[tap.index];
  const RequestedSharding& request = requests_[tap.index];
  const std::vector<DimSharding>& dims = request.sharding.dims;
  if (group.fill && view.fill && *group.fill != *view.fill) return false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const DimSharding& held = group.held.dims[d];
    const bool is_open = !request.fixed && dims[d].axes.empty();
    if ((!is_open && dims[d].axes != held.axes) || dims[d].has_blocks() || held.has_blocks())
      return false;
    const int64_t parts = part_count(mesh, held.axes);
    if (group.taps.empty()) continue;
    const View& first = *views_[group.taps.front().index];
    if (view.stride[d] != first.stride[d]) return false;
    if (parts > 1 && ceil_div(view.size[d], parts) != ceil_div(first.size[d], parts)) return false;
  }
  return true;
}

// How a cut dimension is split, and how far the taps reach over its parts. False if windows end
// past the parts, or if a gather would move less.
bool HaloExchanges::measure_split(const Mesh& mesh, Group& group, size_t d) const {
  const DimSharding& held = group.held.dims[d];
  const int64_t whole = tensor_type(source_, group.root).shape[d].simplified().value();
  const int64_t parts = part_count(mesh, held.axes);
  const View& first = *views_[group.taps.front().index];
  const int64_t count = std::max<int64_t>(1, ceil_div(first.size[d], parts));  // of a tap's part
  const int64_t block = first.stride[d] * count;
  const int64_t held_block = std::max<int64_t>(1, ceil_div(whole, parts));
  if (block > 2 * held_block || held_block > 2 * block) return false;
  // Cut over several axes, parts may differ in size.
  for (const auto& [size, part] : {std::pair(whole, held_block), std::pair(parts * block, block)}) {
    DimSharding even = held;
    even.block = part;
    if (parts_of(mesh, held, size) != parts_of(mesh, even, size)) return false;
  }
  Side& side = group.sides[d];
  std::vector<int64_t> offsets;
  for (const ValueId tap : group.taps) {
    const View& view = *views_[tap.index];
    if (std::min(whole, view.end(d)) > parts * block) return false;
    side.low = std::max(side.low, -view.offset[d]);
    side.high = std::max(side.high, view.offset[d] + view.span(d, count) - block);
    add_once(offsets, view.offset[d]);
  }
  const int64_t exchanges = ceil_div(side.low, block) + ceil_div(side.high, block);
  if (exchanges > static_cast<int64_t>(offsets.size()) ||
      side.low + side.high > (parts - 1) * block)
    return false;
  group.parts[d] = parts;
  group.block[d] = block;
  return true;
}

bool HaloExchanges::measure(const Mesh& mesh, Group& group) const {
  const size_t rank = group.held.dims.size();
  group.parts.assign(rank, 0);
  group.block.assign(rank, 0);
  group.sides.assign(rank, {});
  bool pays = false;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t whole = tensor_type(source_, group.root).shape[d].simplified().value();
    bool is_touched = false;
    for (const ValueId tap : group.taps) {
      const View& view = *views_[tap.index];
      is_touched =
          is_touched || view.offset[d] != 0 || view.size[d] != whole || view.stride[d] != 1;
    }
    if (!is_touched) continue;
    if (!group.held.dims[d].axes.empty()) {
      if (!measure_split(mesh, group, d)) return false;
      const bool is_strided = views_[group.taps.front().index]->stride[d] != 1;
      pays = pays || is_strided || group.sides[d].low != 0 || group.sides[d].high != 0;
      continue;
    }
    Side& side = group.sides[d];
    for (const ValueId tap : group.taps) {
      const View& view = *views_[tap.index];
      side.low = std::max(side.low, -view.offset[d]);
      side.high = std::max(side.high, view.end(d) - whole);
    }
  }
  return pays;
}

void HaloExchanges::decide(ValueId root, const Mesh& mesh, const Sharding& held) {
  Windows& windows = windows_.at(root);
  if (std::exchange(windows.decided, true)) return;
  const auto is_window = [&](InstrId user) {
    const Instruction& i = source_.instr(user);
    return !i.results.empty() && root_of(i.results.front()) == root;
  };
  // What is joined again along a cut dimension (a rotation) lies elsewhere than its elements did.
  const auto is_joined = [&](InstrId user) {
    const Instruction& i = source_.instr(user);
    return i.kind == OpKind::concat &&
           !held.dims[static_cast<size_t>(ops::dim_of(i.attributes, "dim", held.dims.size()))]
                .axes.empty();
  };
  std::vector<Group> groups;
  for (const ValueId v : windows.values) {
    const auto& users = users_[v.index];
    if (!kept_[v.index] && std::all_of(users.begin(), users.end(), is_window)) continue;
    if (std::any_of(users.begin(), users.end(), is_joined)) continue;
    const auto fits = [&](const Group& g) { return joins(mesh, g, v); };
    auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end()) {
      groups.push_back({.root = root, .held = held});
      group = groups.end() - 1;
      if (!fits(*group)) {
        groups.pop_back();
        continue;
      }
    }
    group->taps.push_back(v);
    if (!group->fill) group->fill = views_[v.index]->fill;
  }
  for (Group& group : groups) {
    const View& first = *views_[group.taps.front().index];
    const bool is_one_op =  // which has an exchange of its own if it has no stride
        group.taps.size() == 1 && first.length == 1 && all_are(first.stride, 1);
    if (is_one_op || !measure(mesh, group)) continue;
    for (const ValueId tap : group.taps) group_of_[tap.index] = groups_.size();
    groups_.push_back(std::move(group));
  }
  for (auto v = windows.values.rbegin(); v != windows.values.rend(); ++v) {
    const auto is_done = [&](InstrId user) {
      const auto& results = source_.instr(user).results;
      return !results.empty() && results.front().index < group_of_.size() && is_window(user) &&
             (group_of_[results.front().index] || skipped_[results.front().index]);
    };
    const auto& users = users_[v->index];
    skipped_[v->index] = !kept_[v->index] && !group_of_[v->index] &&
                         std::all_of(users.begin(), users.end(), is_done);
  }
}

// Splits the cut dimensions of the root and puts the borders beside each part.
void HaloExchanges::build_wide(ops::Builder& b, Group& group, Wanted& wanted) const {
  const double fill = group.fill.value_or(0);
  Sharding sharding = group.held;
  for (DimSharding& d : sharding.dims) d.open = false;
  ValueId wide = group.root;
  size_t at = 0;
  const auto want = [&](ValueId v, bool fixed) {
    RequestedSharding request;
    request.sharding = sharding;
    request.fixed = fixed;
    wanted.emplace(v, std::move(request));
    return v;
  };
  const auto padded = [&](ValueId v, size_t d, int64_t low, int64_t high, bool fixed) {
    if (low == 0 && high == 0) return v;
    ExprList lows(b.rank(v), 0);
    ExprList highs = lows;
    lows[d] = low;
    highs[d] = high;
    return want(
        b.op(OpKind::pad, {v}, ops::attrs({{"low", lows}, {"high", highs}, {"value", fill}})),
        fixed);
  };
  const auto sliced = [&](ValueId v, size_t d, int64_t start, int64_t limit) {
    return want(b.slice_dim(v, static_cast<int64_t>(d), start, limit), false);
  };
  for (size_t d = 0; d < group.parts.size() && !b.error(); ++d, ++at) {
    const int64_t parts = group.parts[d];
    const int64_t block = group.block[d];
    const Side side = group.sides[d];
    if (parts == 0) {
      wide = padded(wide, at, side.low, side.high, false);
      continue;
    }
    const int64_t size = b.shape(wide)[at].simplified().value();
    if (size > parts * block) wide = sliced(wide, at, 0, parts * block);
    if (size < parts * block) wide = padded(wide, at, 0, parts * block - size, false);
    Shape shape = b.shape(wide);
    shape[at] = parts;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, block);
    sharding.dims.insert(sharding.dims.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                         DimSharding());
    const ValueId own = want(b.reshape(wide, shape), true);
    ops::Values pieces;
    const auto add_shifted = [&](int64_t by, int64_t first, int64_t last) {
      const int64_t away = std::abs(by);
      const ValueId border = sliced(own, at + 1, first, last);
      const ValueId sent = sliced(border, at, by > 0 ? 0 : away, by > 0 ? parts - away : parts);
      pieces.push_back(padded(sent, at, std::max<int64_t>(0, by), std::max<int64_t>(0, -by), true));
    };
    for (int64_t j = ceil_div(side.low, block); j > 0; --j)
      add_shifted(j, block - border_of(side.low, j, block), block);
    pieces.push_back(own);
    for (int64_t j = 1; j <= ceil_div(side.high, block); ++j)
      add_shifted(-j, 0, border_of(side.high, j, block));
    wide = pieces.size() == 1 ? own : want(b.concat(pieces, static_cast<int64_t>(at) + 1), true);
    ++at;
  }
  group.wide = wide;
  group.wide_sharding = std::move(sharding);
}

ValueId HaloExchanges::build(ops::Builder& b, ValueId tap, Wanted& wanted) {
  Group& group = groups_[*group_of_[tap.index]];
  if (!group.wide.valid()) build_wide(b, group, wanted);
  if (b.error()) return tap;
  const View& view = *views_[tap.index];
  RequestedSharding request;
  request.sharding = group.wide_sharding;
  Shape shape = b.shape(group.wide);
  ExprList start(shape.size(), 0);
  ExprList limit(shape.begin(), shape.end());
  IntList stride(shape.size(), 1);
  Shape merged;
  size_t at = 0;
  for (size_t d = 0; d < group.parts.size(); ++d, ++at) {
    const bool is_split = group.parts[d] != 0;
    if (is_split) ++at;
    const int64_t first = view.offset[d] + group.sides[d].low;
    const int64_t count = is_split ? group.block[d] / view.stride[d] : view.size[d];
    start[at] = first;
    limit[at] = first + view.span(d, count);
    stride[at] = view.stride[d];
    merged.emplace_back(is_split ? group.parts[d] * count : count);
  }
  const auto want = [&](ValueId v) {
    wanted.emplace(v, request);
    return v;
  };
  Attributes window = ops::attrs({{"start", start}, {"limit", limit}});
  if (!all_are(stride, 1)) window.set("stride", stride);
  ValueId made = want(b.op(OpKind::slice, {group.wide}, window));
  request.sharding.dims = group.held.dims;
  made = want(b.reshape(made, merged));
  if (b.error()) return tap;
  const Shape& shape_of_tap = tensor_type(source_, tap).shape;
  if (merged != shape_of_tap) made = want(b.slice(made, ExprList(merged.size(), 0), shape_of_tap));
  return made;
}

}  // namespace hostir
