#include "hostir/passes/windows/halo_exchange.h"

#include <algorithm>
#include <utility>

#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

double elements(const Function& function, ValueId value) {
  double out = 1;
  for (size_t d = 0; d < tensor_type(function, value).shape.size(); ++d)
    out *= static_cast<double>(extent_of(function, value, d));
  return out;
}

}  // namespace

HaloExchanges::HaloExchanges(const Function& source, const std::vector<RequestedSharding>& requests,
                             std::span<const ValueId> keep)
    : source_(source),
      requests_(requests),
      views_(source.values.size()),
      skipped_(source.values.size(), false),
      group_of_(source.values.size()) {
  for (const InstrId id : body_of(source)) {
    const Instruction& i = source.instr(id);
    std::optional<ShiftedView> view = view_of(source, i);
    if (!view) continue;
    const auto& chain = views_[view->root.index];
    std::optional<ShiftedView> longer;
    if (chain && moves_cut(*view, chain->root)) longer = composed(source, *chain, *view);
    if (!longer && !moves_cut(*view, view->root)) continue;
    if (longer) view = std::move(longer);
    const ValueId made = i.results.front();
    windows_[view->root].values.push_back(made);
    views_[made.index] = std::move(view);
  }
  if (windows_.empty()) return;
  users_ = uses_of(source);
  kept_.assign(source.values.size(), false);
  for (size_t v = 0; v < kept_.size(); ++v)
    kept_[v] = contains(keep, source.values[v].origin.value);
}

bool HaloExchanges::is_cut(ValueId value, size_t d) const {
  return !requests_[value.index].sharding.dims[d].axes.empty();
}

// True if the view, of `root` or of a window of it, moves elements along a cut dimension of `root`.
bool HaloExchanges::moves_cut(const ShiftedView& view, ValueId root) const {
  for (size_t d = 0; d < view.dims.size(); ++d) {
    if (view.dims[d].moves(extent_of(source_, view.root, d)) && is_cut(root, d)) return true;
  }
  return false;
}

std::optional<ValueId> HaloExchanges::root_of(ValueId value) const {
  if (value.index >= views_.size() || !views_[value.index]) return std::nullopt;
  return views_[value.index]->root;
}

bool HaloExchanges::moves(ValueId value, size_t d) const {
  const ShiftedView& view = *views_[value.index];
  return view.dims[d].moves(extent_of(source_, view.root, d));
}

// True if the tap can share the exchange: it may be cut as the root is, into parts of the same size
// as the other taps, and it moves along no cut dimension along which they do not.
bool HaloExchanges::joins(const Mesh& mesh, const Group& group, ValueId tap) const {
  const ShiftedView& view = *views_[tap.index];
  const RequestedSharding& request = requests_[tap.index];
  const std::vector<DimSharding>& dims = request.sharding.dims;
  if (group.fill && view.fill && *group.fill != *view.fill) return false;
  // A result that is needed whole is made of the gathered root, unless it has fewer elements.
  const bool is_gathered =
      request.only_returned && elements(source_, tap) >= elements(source_, view.root);
  for (size_t d = 0; d < dims.size(); ++d) {
    const DimSharding& held = group.held.dims[d];
    const bool is_open = !request.fixed && dims[d].axes.empty() && !is_gathered;
    if ((!is_open && dims[d].axes != held.axes) || dims[d].has_blocks() || held.has_blocks())
      return false;
    const int64_t parts = part_count(mesh, held.axes);
    if (group.taps.empty()) continue;
    const ValueId first = group.taps.front();
    const ShiftedView::Dim& mine = view.dims[d];
    const ShiftedView::Dim& theirs = views_[first.index]->dims[d];
    const bool is_moved = moves(tap, d);
    if (mine.stride != theirs.stride || mine.spread != theirs.spread) return false;
    if (is_moved && moves(first, d) && mine.wraps != theirs.wraps) return false;
    if (parts < 2) continue;
    if (is_moved && !moves(first, d)) return false;
    if (ceil_div(mine.size, parts) != ceil_div(theirs.size, parts)) return false;
  }
  return true;
}

// How a cut dimension is split, and which elements the taps need for each of its parts. False if
// windows end past the parts, or if a gather would move less.
bool HaloExchanges::measure_split(const Mesh& mesh, Group& group, size_t d) const {
  const DimSharding& held = group.held.dims[d];
  const int64_t whole = extent_of(source_, group.root, d);
  const int64_t parts = part_count(mesh, held.axes);
  const ShiftedView::Dim first = views_[group.taps.front().index]->dims[d];
  const int64_t count = std::max<int64_t>(1, ceil_div(first.size, parts));  // of a tap's part
  if (first.stride * count % first.spread != 0) return false;
  const int64_t block = first.stride * count / first.spread;
  const int64_t held_block = std::max<int64_t>(1, ceil_div(whole, parts));
  if (block > 2 * held_block || held_block > 2 * block) return false;
  if (first.wraps && whole != parts * block) return false;
  // Cut over several axes, parts may differ in size.
  for (const auto& [size, part] : {std::pair(whole, held_block), std::pair(parts * block, block)}) {
    DimSharding even = held;
    even.block = part;
    if (parts_of(mesh, held, size) != parts_of(mesh, even, size)) return false;
  }
  Along& along = group.along[d];
  along = {.parts = parts, .block = block, .begin = first.offset, .end = first.offset};
  std::vector<int64_t> offsets;
  bool has_borders = false;
  for (const ValueId tap : group.taps) {
    const ShiftedView::Dim& view = views_[tap.index]->dims[d];
    const int64_t end = ceil_div(view.end(), view.spread);
    if (!first.wraps && std::min(whole, end) > parts * block) return false;
    along.begin = std::min(along.begin, view.offset);
    along.end = std::max(along.end, view.offset + view.span(count));
    add_once(offsets, view.offset);
    has_borders = has_borders || view.offset % block != 0;
  }
  // Rolls by whole parts, as in a ring, have a permute each: together they would all be held at
  // once.
  if (first.wraps && !has_borders) return false;
  along.from = ceil_div(along.begin, first.spread);
  along.to = floor_div(along.end - 1, first.spread) + 1;
  if (along.from >= along.to) return false;
  int64_t exchanges = 0;
  int64_t moved = 0;
  for (int64_t n = floor_div(along.from, block); n <= floor_div(along.to - 1, block); ++n) {
    if (n == 0 || (first.wraps && n % parts == 0)) continue;
    ++exchanges;
    moved += along.last_of(n) - along.first_of(n);
  }
  return exchanges <= std::max<int64_t>(2, static_cast<int64_t>(offsets.size())) &&
         moved <= (parts - 1) * block;
}

// How far the taps reach along each dimension. False if the group's exchange is not worth its ops.
bool HaloExchanges::measure(const Mesh& mesh, Group& group) const {
  group.along.assign(group.held.dims.size(), {});
  bool pays = false;
  for (size_t d = 0; d < group.along.size(); ++d) {
    const auto is_moved = [&](ValueId tap) { return moves(tap, d); };
    if (std::none_of(group.taps.begin(), group.taps.end(), is_moved)) continue;
    const ShiftedView::Dim& first = views_[group.taps.front().index]->dims[d];
    Along& along = group.along[d];
    if (!group.held.dims[d].axes.empty()) {
      if (!measure_split(mesh, group, d)) return false;
      pays = pays || first.stride != 1 || first.spread != 1 || along.from < 0 ||
             along.to > along.block;
      continue;
    }
    along = {.begin = first.offset, .end = first.end()};
    for (const ValueId tap : group.taps) {
      const ShiftedView::Dim& view = views_[tap.index]->dims[d];
      if (view.wraps) return false;
      along.begin = std::min(along.begin, view.offset);
      along.end = std::max(along.end, view.end());
    }
    const int64_t whole = first.spread * (extent_of(source_, group.root, d) - 1) + 1;
    if (along.begin >= whole || along.end <= 0) return false;
  }
  return pays;
}

// True for one op that the rule of its own already cuts with one exchange.
bool HaloExchanges::has_own_exchange(const Mesh& mesh, const Group& group) const {
  const ShiftedView& view = *views_[group.taps.front().index];
  if (group.taps.size() > 1 || view.length > 1) return false;
  for (size_t d = 0; d < view.dims.size(); ++d) {
    const ShiftedView::Dim& dim = view.dims[d];
    const int64_t parts = part_count(mesh, group.held.dims[d].axes);
    if (parts < 2) continue;
    if (dim.stride != 1 || dim.spread != 1) return false;
    if (dim.wraps && dim.offset * parts % dim.size != 0) return false;  // it moves whole parts
  }
  return true;
}

// The dimension of a roll that is cut in parts of different sizes, if two slices move less than
// half as much as a gather.
std::optional<size_t> HaloExchanges::uneven_roll(const Mesh& mesh, const Sharding& held,
                                                 ValueId tap) const {
  const ShiftedView& view = *views_[tap.index];
  for (size_t d = 0; d < view.dims.size(); ++d) {
    const ShiftedView::Dim& dim = view.dims[d];
    const int64_t parts = part_count(mesh, held.dims[d].axes);
    const int64_t block = ceil_div(dim.size, parts);
    const bool moves_less = 4 * std::min(std::abs(dim.offset), block) <= (parts - 1) * block;
    if (dim.wraps && view.length == 1 && dim.size % parts != 0 && moves_less) return d;
  }
  return std::nullopt;
}

// The windows of `root` that may share an exchange.
std::vector<HaloExchanges::Group> HaloExchanges::grouped(const Mesh& mesh, ValueId root,
                                                         const Sharding& held) const {
  const auto is_window = [&](InstrId user) {
    const Instruction& i = source_.instr(user);
    return !i.results.empty() && root_of(i.results.front()) == root;
  };
  // What is joined again along a cut dimension lies elsewhere than its elements did.
  const auto is_joined = [&](InstrId user) {
    const Instruction& i = source_.instr(user);
    return i.kind == OpKind::concat &&
           !held.dims[static_cast<size_t>(ops::dim_of(i.attributes, "dim", held.dims.size()))]
                .axes.empty();
  };
  // With the number of cut dimensions that each moves along.
  std::vector<std::pair<size_t, ValueId>> taps;
  for (const ValueId v : windows_.at(root).values) {
    const auto& users = users_[v.index];
    if (!kept_[v.index] && std::all_of(users.begin(), users.end(), is_window)) continue;
    if (std::any_of(users.begin(), users.end(), is_joined)) continue;
    size_t moved = 0;
    for (size_t d = 0; d < held.dims.size(); ++d) {
      if (moves(v, d) && !held.dims[d].axes.empty()) ++moved;
    }
    taps.emplace_back(moved, v);
  }
  std::stable_sort(taps.begin(), taps.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::vector<Group> groups;
  for (const auto& [moved, tap] : taps) {
    const auto fits = [&, tap = tap](const Group& g) { return joins(mesh, g, tap); };
    auto group = std::find_if(groups.begin(), groups.end(), fits);
    if (group == groups.end()) {
      Group alone;
      alone.root = root;
      alone.held = held;
      if (!fits(alone)) continue;
      groups.push_back(std::move(alone));
      group = groups.end() - 1;
    }
    group->taps.push_back(tap);
    if (!group->fill) group->fill = views_[tap.index]->fill;
  }
  return groups;
}

void HaloExchanges::decide(ValueId root, const Mesh& mesh, const Sharding& held) {
  Windows& windows = windows_.at(root);
  if (std::exchange(windows.decided, true)) return;
  for (Group& group : grouped(mesh, root, held)) {
    if (has_own_exchange(mesh, group)) continue;
    const bool is_shared = measure(mesh, group);
    for (const ValueId tap : group.taps) {
      if (!is_shared) {
        const std::optional<size_t> d = uneven_roll(mesh, held, tap);
        if (!d) continue;
        groups_.emplace_back();
        groups_.back().root = root;
        groups_.back().joined = d;
      }
      group_of_[tap.index] = groups_.size() - (is_shared ? 0 : 1);
    }
    if (is_shared) groups_.push_back(std::move(group));
  }
  for (auto v = windows.values.rbegin(); v != windows.values.rend(); ++v) {
    const auto is_done = [&](InstrId user) {
      const auto& results = source_.instr(user).results;
      return !results.empty() && results.front().index < group_of_.size() &&
             root_of(results.front()) == root &&
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
  const auto padded = [&](ValueId v, size_t d, int64_t low, int64_t high, int64_t spread,
                          bool fixed) {
    if (low == 0 && high == 0 && spread == 1) return v;
    ExprList lows(b.rank(v), 0);
    ExprList highs = lows;
    lows[d] = low;
    highs[d] = high;
    Attributes attributes = ops::attrs({{"low", lows}, {"high", highs}, {"value", fill}});
    if (spread != 1) {
      IntList interior(lows.size(), 0);
      interior[d] = spread - 1;
      attributes.set("interior", interior);
    }
    return want(b.op(OpKind::pad, {v}, attributes), fixed);
  };
  const auto sliced = [&](ValueId v, size_t d, int64_t start, int64_t limit) {
    if (start == 0 && b.shape(v)[d].simplified() == IndexExpr(limit)) return v;
    return want(b.slice_dim(v, static_cast<int64_t>(d), start, limit), false);
  };
  for (size_t d = 0; d < group.along.size() && !b.error(); ++d) {
    const auto& [parts, block, from, to, begin, end] = group.along[d];
    if (parts != 0 || begin == end) continue;
    const int64_t size = b.shape(wide)[d].simplified().value();
    const int64_t spread = views_[group.taps.front().index]->dims[d].spread;
    if (spread != 1) {
      wide = padded(wide, d, -begin, end - spread * (size - 1) - 1, spread, false);
      continue;
    }
    wide = sliced(wide, d, std::max<int64_t>(begin, 0), std::min(end, size));
    wide =
        padded(wide, d, std::max<int64_t>(-begin, 0), std::max<int64_t>(end - size, 0), 1, false);
  }
  for (size_t d = 0; d < group.along.size() && !b.error(); ++d, ++at) {
    const Along& along = group.along[d];
    if (along.parts == 0) continue;
    const ShiftedView::Dim& first = views_[group.taps.front().index]->dims[d];
    const int64_t size = b.shape(wide)[at].simplified().value();
    const int64_t parts = along.parts;
    const int64_t block = along.block;
    if (size > parts * block) wide = sliced(wide, at, 0, parts * block);
    if (size < parts * block) wide = padded(wide, at, 0, parts * block - size, 1, false);
    Shape shape = b.shape(wide);
    shape[at] = parts;
    shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(at) + 1, block);
    sharding.dims.insert(sharding.dims.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                         DimSharding());
    const ValueId own = want(b.reshape(wide, shape), true);
    ops::Values pieces;
    for (int64_t n = floor_div(along.from, block); n <= floor_div(along.to - 1, block); ++n) {
      const ValueId piece = sliced(own, at + 1, along.first_of(n), along.last_of(n));
      const int64_t away = std::abs(n);
      if (n == 0) {
        pieces.push_back(piece);
      } else if (first.wraps) {
        const auto dim = static_cast<int64_t>(at);
        pieces.push_back(
            want(b.op(OpKind::roll, {piece}, ops::attrs({{"shift", IndexExpr(-n)}, {"dim", dim}})),
                 true));
      } else {
        const ValueId sent = sliced(piece, at, n < 0 ? 0 : away, n < 0 ? parts - away : parts);
        pieces.push_back(padded(sent, at, n < 0 ? away : 0, n < 0 ? 0 : away, 1, true));
      }
    }
    wide = pieces.size() == 1 ? pieces.front()
                              : want(b.concat(pieces, static_cast<int64_t>(at) + 1), true);
    ++at;
    wide = padded(wide, at, along.from * first.spread - along.begin,
                  along.end - (along.to - 1) * first.spread - 1, first.spread, true);
  }
  group.wide = wide;
  group.wide_sharding = std::move(sharding);
}

// The part of a rolled value that stays in order, and behind or before it what comes around.
ValueId HaloExchanges::build_joined(ops::Builder& b, const Group& group, ValueId tap,
                                    Wanted& wanted) const {
  const ShiftedView::Dim& view = views_[tap.index]->dims[*group.joined];
  const auto dim = static_cast<int64_t>(*group.joined);
  const int64_t start = (view.offset + view.size) % view.size;
  const auto want = [&](ValueId v) {
    RequestedSharding request = requests_[tap.index];
    request.fixed = false;
    wanted.emplace(v, std::move(request));
    return v;
  };
  const ValueId first = want(b.slice_dim(group.root, dim, start, view.size));
  const ValueId second = want(b.slice_dim(group.root, dim, 0, start));
  return want(b.concat({first, second}, dim));
}

ValueId HaloExchanges::build(ops::Builder& b, ValueId tap, Wanted& wanted) {
  Group& group = groups_[*group_of_[tap.index]];
  if (group.joined) return build_joined(b, group, tap, wanted);
  if (!group.wide.valid()) build_wide(b, group, wanted);
  if (b.error()) return tap;
  const ShiftedView& view = *views_[tap.index];
  RequestedSharding request;
  request.sharding = group.wide_sharding;
  Shape shape = b.shape(group.wide);
  ExprList start(shape.size(), 0);
  ExprList limit(shape.begin(), shape.end());
  IntList stride(shape.size(), 1);
  Shape merged;
  size_t at = 0;
  for (size_t d = 0; d < group.along.size(); ++d, ++at) {
    const Along& along = group.along[d];
    const ShiftedView::Dim& dim = view.dims[d];
    if (along.parts != 0) ++at;
    const int64_t count = along.parts != 0 ? along.block * dim.spread / dim.stride : dim.size;
    start[at] = dim.offset - along.begin;
    limit[at] = dim.offset - along.begin + dim.span(count);
    stride[at] = dim.stride;
    merged.emplace_back(along.parts != 0 ? along.parts * count : count);
  }
  const auto want = [&](ValueId v) {
    wanted.emplace(v, request);
    return v;
  };
  Attributes window = ops::attrs({{"start", start}, {"limit", limit}});
  const auto is_one = [](int64_t s) { return s == 1; };
  if (!std::all_of(stride.begin(), stride.end(), is_one)) window.set("stride", stride);
  ValueId made = want(b.op(OpKind::slice, {group.wide}, window));
  request.sharding.dims = group.held.dims;
  made = want(b.reshape(made, merged));
  if (b.error()) return tap;
  const Shape& shape_of_tap = tensor_type(source_, tap).shape;
  if (merged != shape_of_tap) made = want(b.slice(made, ExprList(merged.size(), 0), shape_of_tap));
  return made;
}

}  // namespace hostir
