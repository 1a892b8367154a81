#include "hostir/passes/windows/border_sums.h"

#include <algorithm>
#include <set>

#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

constexpr size_t kMostAddends = 256;

// An add that broadcasts nothing.
bool is_sum_of_equals(const Function& source, const Instruction& i) {
  const auto is_equal = [&](const Operand& o) {
    return tensor_type(source, o.value).shape == tensor_type(source, i.results.front()).shape;
  };
  return i.kind == OpKind::add && std::all_of(i.operands.begin(), i.operands.end(), is_equal);
}

ValueId request(BorderSums::Wanted& wanted, ValueId value, const Sharding& sharding, bool fixed) {
  RequestedSharding request;
  request.sharding = sharding;
  request.fixed = fixed;
  wanted.emplace(value, std::move(request));
  return value;
}

}  // namespace

BorderSums::BorderSums(const Function& source, const std::vector<RequestedSharding>& requests,
                       const MeshMoves& moves, std::span<const ValueId> keep)
    : source_(source),
      requests_(requests),
      moves_(moves),
      uses_(source.values.size(), 0),
      skipped_(source.values.size(), false) {
  const std::vector<InstrId>& body = body_of(source);
  for (const InstrId id : body) {
    for (const Operand& o : source.instr(id).operands) {
      if (o.value.valid()) ++uses_[o.value.index];
    }
  }
  for (size_t v = 0; v < uses_.size(); ++v) {
    if (contains(keep, source.values[v].origin.value)) uses_[v] += 2;
  }
  // By value: how many slices, pads and rolls it may be the sum of.
  std::vector<size_t> windows(uses_.size(), 0);
  for (const InstrId id : body) {
    const Instruction& i = source.instr(id);
    const bool is_window =
        i.kind == OpKind::slice || i.kind == OpKind::pad || i.kind == OpKind::roll;
    if (!is_window && i.kind != OpKind::add) continue;
    size_t& count = windows[i.results.front().index];
    for (const Operand& o : i.operands) {
      if (uses_[o.value.index] == 1) count += windows[o.value.index];
    }
    if (is_window) count = std::max<size_t>(count, 1);
  }
  for (auto id = body.rbegin(); id != body.rend(); ++id) {
    const Instruction& i = source.instr(*id);
    if (i.results.empty()) continue;
    const ValueId value = i.results.front();
    if (windows[value.index] < 2 || skipped_[value.index]) continue;
    const auto shape = constant_extents(tensor_type(source, value).shape);
    if (!shape) continue;
    ShiftedView all;
    all.root = value;
    for (const int64_t size : *shape) all.dims.push_back({.size = size});
    Sum sum;
    collect(value, all, sum);
    if (!can_share(value, sum)) continue;
    for (const ValueId inner : sum.inner) skipped_[inner.index] = inner != value;
    sums_.emplace(value, std::move(sum));
  }
}

// Adds the addends of `value`, of which the sum has a window.
void BorderSums::collect(ValueId value, const ShiftedView& window, Sum& sum) const {
  const InstrId def = source_.value(value).defined_by;
  const bool is_inner =
      sum.inner.empty() || (uses_[value.index] == 1 && !requests_[value.index].fixed);
  if (def.valid() && is_inner && sum.addends.size() + sum.inner.size() < kMostAddends) {
    const Instruction& i = source_.instr(def);
    if (is_sum_of_equals(source_, i)) {
      sum.inner.push_back(value);
      for (const Operand& o : i.operands) {
        ShiftedView same = window;
        same.root = o.value;
        collect(o.value, same, sum);
      }
      return;
    }
    const auto view = view_of(source_, i);
    const auto longer =
        view && view->fill.value_or(0) == 0 ? composed(source_, *view, window) : std::nullopt;
    if (longer) {
      sum.inner.push_back(value);
      return collect(longer->root, *longer, sum);
    }
  }
  sum.addends.push_back(window);
}

// True if several addends lie at different places along a cut dimension, near enough.
bool BorderSums::can_share(ValueId value, Sum& sum) const {
  if (sum.addends.size() < 2) return false;
  const size_t rank = sum.addends.front().dims.size();
  sum.along.resize(rank);
  for (const ShiftedView& addend : sum.addends) {
    for (size_t d = 0; d < rank; ++d) {
      sum.along[d].moves |= addend.dims[d].moves(extent_of(source_, addend.root, d));
      sum.along[d].wraps |= addend.dims[d].wraps;
    }
  }
  if (!choose_axes(value, sum)) return false;
  std::set<ValueId> roots;
  bool differ = false;
  for (const ShiftedView& addend : sum.addends) {
    bool moves = false;
    differ = differ || addend.dims != sum.addends.front().dims;
    for (size_t d = 0; d < rank; ++d) {
      moves = moves || (!sum.sharding.dims[d].axes.empty() &&
                        addend.dims[d].moves(extent_of(source_, addend.root, d)));
    }
    if (moves) roots.insert(addend.root);
  }
  // A plain sum of windows of one value is left to halo_exchange.h.
  const Instruction& last = source_.instr(source_.value(value).defined_by);
  if (!differ || roots.empty() || (roots.size() < 2 && last.kind == OpKind::add)) return false;
  for (size_t d = 0; d < rank; ++d) {
    if (sum.along[d].moves && !measure(value, sum, d)) return false;
  }
  return true;
}

// The axes of the sum: those that it or an addend is requested to be cut over. False if they differ
// along a dimension where addends move.
bool BorderSums::choose_axes(ValueId value, Sum& sum) const {
  sum.sharding = requests_[value.index].sharding;
  std::vector<ValueId> values = {value};
  for (const ShiftedView& addend : sum.addends) values.push_back(addend.root);
  bool is_cut = false;
  for (size_t d = 0; d < sum.along.size(); ++d) {
    DimSharding& dim = sum.sharding.dims[d];
    dim.open = false;
    if (!sum.along[d].moves) continue;
    for (const ValueId v : values) {
      const RequestedSharding& request = requests_[v.index];
      const DimSharding& wanted = request.sharding.dims[d];
      if (request.sharding.mesh != sum.sharding.mesh || wanted.has_blocks() || wanted.unit != 1)
        return false;
      if (wanted.axes.empty() && !request.fixed) continue;
      if (dim.axes.empty()) dim.axes = wanted.axes;
      if (wanted.axes != dim.axes) return false;
    }
    is_cut = is_cut || !dim.axes.empty();
  }
  sum.sharding.unreduced.clear();
  sum.sharding.unreduced_kind = Reduction::kSum;
  // The sum may be cut over an axis along another dimension than the addends.
  AxisList all;
  for (const DimSharding& dim : sum.sharding.dims) {
    if (!can_stand_together(moves_.mesh(sum.sharding.mesh), dim.axes, all)) return false;
    all.insert(all.end(), dim.axes.begin(), dim.axes.end());
  }
  return is_cut;
}

// What the addends reach along a dimension. False if they do not lie near the parts of the sum.
bool BorderSums::measure(ValueId value, Sum& sum, size_t d) const {
  Along& along = sum.along[d];
  const DimSharding& cut = sum.sharding.dims[d];
  const int64_t size = extent_of(source_, value, d);
  if (cut.axes.empty()) {
    along.end = size;
    return !along.wraps;
  }
  const Mesh& mesh = moves_.mesh(sum.sharding.mesh);
  along.parts = part_count(mesh, cut.axes);
  const auto even = [&](int64_t whole, int64_t block) {
    DimSharding blocks = cut;
    blocks.block = block;
    return parts_of(mesh, cut, whole) == parts_of(mesh, blocks, whole);
  };
  for (const ShiftedView& addend : sum.addends) {
    const ShiftedView::Dim& dim = addend.dims[d];
    const int64_t whole = extent_of(source_, addend.root, d);
    const int64_t count = ceil_div(whole, along.parts);
    if (dim.spread * count % dim.stride != 0 || !even(whole, count)) return false;
    const int64_t block = dim.spread * count / dim.stride;
    const int64_t begin = ceil_div(-dim.offset, dim.stride);
    const auto end_of = [&](int64_t elements) {
      return floor_div(dim.spread * (elements - 1) - dim.offset, dim.stride) + 1;
    };
    if (along.block == 0) along = {true, along.wraps, along.parts, block, begin, end_of(count)};
    const bool is_near = along.wraps ? whole == size && size == along.parts * block &&
                                           (dim.wraps || !dim.moves(whole))
                                     : std::min(size, end_of(whole)) <= along.parts * block;
    if (block != along.block || !is_near) return false;
    along.begin = std::min(along.begin, begin);
    along.end = std::max(along.end, end_of(count));
  }
  const int64_t own = ceil_div(size, along.parts);
  const int64_t lent =
      std::max<int64_t>(0, -along.begin) + std::max<int64_t>(0, along.end - along.block);
  return along.block <= 2 * own && own <= 2 * along.block && even(size, own) &&
         lent <= (along.parts - 1) * along.block;
}

// The addends of each part, padded to what all of them reach, and summed.
ValueId BorderSums::build_local(ops::Builder& b, const Sum& sum, const Sharding& split,
                                Wanted& wanted) const {
  ValueId out;
  const auto want = [&](ValueId v, const Sharding& sharding) {
    return request(wanted, v, sharding, false);
  };
  const auto any_of = [](const auto& list, int64_t other_than) {
    return std::any_of(list.begin(), list.end(), [&](const auto& n) { return !(n == other_than); });
  };
  for (const ShiftedView& addend : sum.addends) {
    ValueId value = addend.root;
    const Shape shape = b.shape(value);
    ExprList more(shape.size(), 0);
    Shape parts;
    ExprList low, high, limit;
    IntList interior, stride;
    for (size_t d = 0; d < sum.along.size(); ++d) {
      const Along& along = sum.along[d];
      const ShiftedView::Dim& dim = addend.dims[d];
      const int64_t whole = shape[d].simplified().value();
      int64_t count = whole;
      if (along.parts != 0) {
        count = ceil_div(whole, along.parts);
        more[d] = along.parts * count - whole;
        parts.emplace_back(along.parts);
        low.emplace_back(0);
        high.emplace_back(0);
        limit.emplace_back(along.parts);
        interior.push_back(0);
        stride.push_back(1);
      }
      // From the first to the last element that the sum takes, counted in the addend.
      const int64_t first = along.moves ? dim.offset + dim.stride * along.begin : 0;
      const int64_t taken = along.moves ? dim.span(along.end - along.begin) : count;
      parts.emplace_back(count);
      low.emplace_back(-first);
      high.emplace_back(first + taken - (dim.spread * (count - 1) + 1));
      limit.emplace_back(taken);
      interior.push_back(dim.spread - 1);
      stride.push_back(dim.stride);
    }
    if (any_of(more, 0)) {
      value = want(b.op(OpKind::pad, {value},
                        ops::attrs({{"low", ExprList(more.size(), 0)}, {"high", more}})),
                   sum.sharding);
    }
    value = want(b.reshape(value, parts), split);
    if (any_of(interior, 0) || any_of(low, 0) || any_of(high, 0)) {
      Attributes attributes = ops::attrs({{"low", low}, {"high", high}});
      if (any_of(interior, 0)) attributes.set("interior", interior);
      value = want(b.op(OpKind::pad, {value}, attributes), split);
    }
    if (any_of(stride, 1)) {
      value = want(
          b.op(OpKind::slice, {value},
               ops::attrs(
                   {{"start", ExprList(limit.size(), 0)}, {"limit", limit}, {"stride", stride}})),
          split);
    }
    out = out.valid() ? want(b.add(out, value), split) : value;
    if (b.error()) return out;
  }
  return out;
}

ValueId BorderSums::build(ops::Builder& b, ValueId of, Wanted& wanted) const {
  const Sum& sum = sums_.at(of);
  Sharding split = sum.sharding;
  split.dims.clear();
  for (size_t d = 0; d < sum.along.size(); ++d) {
    split.dims.push_back(sum.sharding.dims[d]);
    if (sum.along[d].parts != 0) split.dims.emplace_back();
  }
  ValueId value = build_local(b, sum, split, wanted);
  const auto want = [&](ValueId v, const Sharding& sharding, bool fixed) {
    return request(wanted, v, sharding, fixed);
  };
  const auto sliced = [&](ValueId v, size_t d, int64_t start, int64_t limit) {
    if (start == 0 && b.shape(v)[d].simplified() == IndexExpr(limit)) return v;
    return want(b.slice_dim(v, static_cast<int64_t>(d), start, limit), split, false);
  };
  const auto padded = [&](ValueId v, size_t d, int64_t low, int64_t high, bool fixed) {
    if (low == 0 && high == 0) return v;
    ExprList lows(b.rank(v), 0);
    ExprList highs = lows;
    lows[d] = low;
    highs[d] = high;
    return want(b.op(OpKind::pad, {v}, ops::attrs({{"low", lows}, {"high", highs}})), split, fixed);
  };
  Shape merged;
  size_t at = 0;
  for (size_t d = 0; d < sum.along.size() && !b.error(); ++d, ++at) {
    const auto& [moves, wraps, parts, block, begin, end] = sum.along[d];
    if (parts == 0) {
      merged.push_back(b.shape(value)[at]);
      continue;
    }
    merged.emplace_back(parts * block);
    ValueId own;
    for (int64_t n = floor_div(begin, block); n <= floor_div(end - 1, block); ++n) {
      const int64_t first = std::max(begin, n * block);
      const int64_t last = std::min(end, (n + 1) * block);
      const int64_t away = std::abs(n);
      ValueId piece = sliced(value, at + 1, first - begin, last - begin);
      if (n != 0 && wraps) {
        const auto dim = static_cast<int64_t>(at);
        piece =
            want(b.op(OpKind::roll, {piece}, ops::attrs({{"shift", IndexExpr(n)}, {"dim", dim}})),
                 split, true);
      } else if (n != 0) {
        piece = sliced(piece, at, n > 0 ? 0 : away, n > 0 ? parts - away : parts);
        piece = padded(piece, at, n > 0 ? away : 0, n > 0 ? 0 : away, true);
      }
      piece = padded(piece, at + 1, first - n * block, (n + 1) * block - last, false);
      own = own.valid() ? want(b.add(own, piece), split, false) : piece;
    }
    value = own;
    ++at;
  }
  if (b.error()) return of;
  value = want(b.reshape(value, merged), sum.sharding, false);
  const Shape shape = tensor_type(source_, of).shape;  // values are added
  ExprList limit(shape.begin(), shape.end());
  ExprList more(shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    const int64_t has = merged[d].simplified().value();
    const int64_t needs = shape[d].simplified().value();
    limit[d] = std::min(has, needs);
    more[d] = std::max<int64_t>(0, needs - has);
  }
  if (limit != ExprList(merged.begin(), merged.end()))
    value = want(b.slice(value, ExprList(shape.size(), 0), limit), sum.sharding, false);
  if (limit != ExprList(shape.begin(), shape.end()))
    value = want(b.op(OpKind::pad, {value},
                      ops::attrs({{"low", ExprList(shape.size(), 0)}, {"high", more}})),
                 sum.sharding, false);
  return value;
}

}  // namespace hostir
