#include "hostir/passes/redistribute/redistribute_step.h"

#include <algorithm>
#include <map>
#include <utility>

#include "hostir/passes/redistribute/shard_parts.h"

namespace hostir {

namespace {

// True if `list` starts with all entries of `head`, none of them split.
bool begins_with(const AxisList& list, const AxisList& head) {
  return head.size() <= list.size() && std::equal(head.begin(), head.end(), list.begin());
}

// Numbers the boxes before a step: positions with equal boxes and equal partial coordinates have
// equal numbers.
class BoxNumbers {
 public:
  BoxNumbers(const Mesh& mesh, const AxisList& partial, const ShardParts& before,
             const ShardParts& after)
      : mesh_(mesh), partial_(partial), before_(before), after_(after) {
    for (size_t d = 0; d < before.rank(); ++d) {
      Dim& dim = dims_.emplace_back();
      std::map<std::pair<int64_t, int64_t>, size_t> numbers;
      // All empty ranges are alike, wherever they lie.
      const auto ends = [](const Range& r) {
        return r.lo < r.hi ? std::pair(r.lo, r.hi) : std::pair<int64_t, int64_t>(0, 0);
      };
      for (const Range& r : before.ranges(d))
        dim.before.push_back(numbers.try_emplace(ends(r), numbers.size()).first->second);
      for (const Range& r : after.ranges(d)) {
        const auto at = numbers.find(ends(r));
        dim.after.push_back(at != numbers.end() ? std::optional(at->second) : std::nullopt);
      }
      dim.count = numbers.size();
      count_ *= dim.count;
    }
    count_ *= static_cast<size_t>(part_count(mesh, partial));
  }

  size_t count() const { return count_; }
  size_t before(size_t position) const {
    size_t number = partial_number(position);
    for (size_t d = 0; d < dims_.size(); ++d)
      number = number * dims_[d].count + dims_[d].before[before_.part(d, position)];
    return number;
  }
  /// nullopt if no position had the box.
  std::optional<size_t> after(size_t position) const {
    size_t number = partial_number(position);
    for (size_t d = 0; d < dims_.size(); ++d) {
      const std::optional<size_t> range = dims_[d].after[after_.part(d, position)];
      if (!range) return std::nullopt;
      number = number * dims_[d].count + *range;
    }
    return number;
  }

 private:
  struct Dim {
    std::vector<size_t> before;                // by part: the range's number
    std::vector<std::optional<size_t>> after;  // by part
    size_t count = 0;                          // of numbers
  };

  size_t partial_number(size_t position) const {
    int64_t number = 0;
    for (const AxisRef& a : partial_) {
      number = number * mesh_.axis_size(a) + mesh_.coord(static_cast<int64_t>(position), a);
    }
    return static_cast<size_t>(number);
  }

  const Mesh& mesh_;
  const AxisList& partial_;
  const ShardParts& before_;
  const ShardParts& after_;
  std::vector<Dim> dims_;
  size_t count_ = 1;
};

// The axes of a dimension that both shardings have in common, before they differ.
AxisList shared_prefix(const Mesh& mesh, const DimSharding& a, const DimSharding& b) {
  const bool alike = a.cuts_alike(b) && (!a.is_placed() || a.axes == b.axes);
  return alike ? common_prefix(mesh, a.axes, b.axes) : AxisList();
}

class StepMaker {
 public:
  StepMaker(const Mesh& mesh, const Shape& shape, const Sharding& from, const Sharding& to)
      : mesh_(mesh), shape_(shape), from_(from), to_(to) {}

  std::optional<RedistributeStep> make() {
    if (from_ == to_ || !axis_faults(mesh_, used_axes(to_)).empty()) return std::nullopt;
    const bool kind_changes =
        from_.is_partial() && to_.is_partial() && from_.unreduced_kind != to_.unreduced_kind;
    if (kind_changes) return std::nullopt;
    const AxisList reduced = without(mesh_, from_.unreduced, to_.unreduced);
    const AxisList fresh = without(mesh_, to_.unreduced, from_.unreduced);
    const AxisList lasting = without(mesh_, from_.unreduced, reduced);
    if (!same_set(mesh_, joined(mesh_, lasting, fresh), to_.unreduced)) return std::nullopt;
    if (!reduced.empty()) return fresh.empty() ? reduction(reduced) : std::nullopt;
    if (!fresh.empty()) return becoming_partial(fresh);
    return movement();
  }

 private:
  RedistributeStep step(StepKind kind, AxisList axes) const {
    RedistributeStep s;
    s.kind = kind;
    s.axes = std::move(axes);
    s.to = to_;
    return s;
  }

  std::optional<RedistributeStep> reduction(const AxisList& reduced) {
    if (from_.dims == to_.dims) return step(StepKind::kAllReduce, reduced);
    AxisList scattered;
    for (size_t d = 0; d < to_.dims.size(); ++d) {
      if (!is_prefix(mesh_, from_.dims[d].axes, to_.dims[d].axes)) return std::nullopt;
      const AxisList tail = suffix_after(mesh_, to_.dims[d].axes, from_.dims[d].axes);
      scattered = joined(mesh_, scattered, tail);
    }
    if (!same_set(mesh_, scattered, reduced)) return std::nullopt;
    if (!nests(from_, to_) && !members_take_all(scattered)) return std::nullopt;
    RedistributeStep s = step(StepKind::kReduceScatter, scattered);
    if (!blocks_are_in_order(from_, to_, scattered)) s.sent = Blocks::kCopied;
    return s;
  }

  // Ranks that do not keep their elements are filled with the identity of the reduction.
  std::optional<RedistributeStep> becoming_partial(const AxisList& fresh) {
    for (size_t d = 0; d < to_.dims.size(); ++d) {
      const AxisList& before = from_.dims[d].axes;
      const AxisList& after = to_.dims[d].axes;
      if (is_prefix(mesh_, before, after)) continue;
      if (!is_prefix(mesh_, after, before)) return std::nullopt;
      const AxisList dropped = suffix_after(mesh_, before, after);
      if (!without(mesh_, dropped, fresh).empty()) return std::nullopt;
    }
    const bool sound =
        (nests(from_, to_) && nests(to_, from_)) || every_element_is_kept_once(fresh);
    return sound ? std::optional(step(StepKind::kLocal, {})) : std::nullopt;
  }

  std::optional<RedistributeStep> movement() {
    if (parts_lie_inside(from_, to_)) return step(StepKind::kLocal, {});
    if (auto s = gather()) return s;
    if (const auto source = permutation()) return permute(*source);
    return exchange();
  }

  std::optional<RedistributeStep> gather() const {
    AxisList axes;
    for (size_t d = 0; d < to_.dims.size(); ++d) {
      if (!is_prefix(mesh_, to_.dims[d].axes, from_.dims[d].axes)) return std::nullopt;
      const AxisList tail = suffix_after(mesh_, from_.dims[d].axes, to_.dims[d].axes);
      axes = joined(mesh_, axes, tail);
    }
    if (axes.empty()) return std::nullopt;
    RedistributeStep s = step(StepKind::kAllGather, axes);
    if (!blocks_are_in_order(to_, from_, axes)) s.received = Blocks::kCopied;
    if (!nests(to_, from_) && !members_hold_all(axes)) return std::nullopt;
    return s;
  }

  std::optional<RedistributeStep> exchange() const {
    if (!same_set(mesh_, dimension_axes(mesh_, from_), dimension_axes(mesh_, to_))) {
      return std::nullopt;
    }
    AxisList leaving;
    AxisList arriving;
    bool entire = true;  // the common prefix ends at a whole entry in both lists
    for (size_t d = 0; d < to_.dims.size(); ++d) {
      const AxisList& a = from_.dims[d].axes;
      const AxisList& b = to_.dims[d].axes;
      const AxisList prefix = shared_prefix(mesh_, from_.dims[d], to_.dims[d]);
      entire = entire && begins_with(a, prefix) && begins_with(b, prefix);
      leaving = joined(mesh_, leaving, suffix_after(mesh_, a, prefix));
      arriving = joined(mesh_, arriving, suffix_after(mesh_, b, prefix));
    }
    if (!same_set(mesh_, leaving, arriving)) return std::nullopt;
    // Choose the group order that avoids packing, if there is one.
    AxisList axes = blocks_are_in_order(to_, from_, leaving) ? leaving : arriving;
    const bool blocks = has_blocks(from_) || has_blocks(to_);
    const bool nested = !blocks && (entire || divides(from_, to_));
    if (!nested && !members_hold_all(axes)) return std::nullopt;
    RedistributeStep s = step(StepKind::kAllToAll, std::move(axes));
    s.sent = blocks_between(from_, to_, s.axes);
    s.received = blocks_between(to_, from_, s.axes);
    return s;
  }

  // ---- boxes

  const std::vector<Extents>& samples() const {
    if (samples_.empty()) samples_ = sample_extents(shape_);
    return samples_;
  }

  const std::optional<Extents>& known_extents() const {
    if (!extents_) extents_ = constant_extents(shape_);
    return *extents_;
  }

  // True if all parts of both shardings have equal size; then cuts by sub-axes nest as written.
  bool divides(const Sharding& a, const Sharding& b) const {
    const std::optional<Extents>& extents = known_extents();
    if (!extents) return false;
    for (size_t d = 0; d < extents->size(); ++d) {
      if ((*extents)[d] % part_count(mesh_, a.dims[d].axes) != 0 ||
          (*extents)[d] % part_count(mesh_, b.dims[d].axes) != 0) {
        return false;
      }
    }
    return true;
  }

  // True if the axis lists alone show that every part of `inner` is inside the same rank's part of
  // `outer`: each list of `inner` continues that of `outer`. Sub-axes of one axis are merged before
  // cutting, so an uneven cut by a sub-axis need not nest in the cut by the whole axis.
  bool nests(const Sharding& outer, const Sharding& inner) const {
    bool entire = true;
    for (size_t d = 0; d < outer.dims.size(); ++d) {
      const AxisList& a = outer.dims[d].axes;
      const AxisList& b = inner.dims[d].axes;
      if (!a.empty() && !outer.dims[d].cuts_alike(inner.dims[d])) return false;
      if (outer.dims[d].is_placed() && a != b) return false;
      if (!is_prefix(mesh_, a, b)) return false;
      entire = entire && begins_with(b, a);
    }
    return entire || (!has_blocks(outer) && !has_blocks(inner) && divides(outer, inner));
  }

  bool parts_lie_inside(const Sharding& outer, const Sharding& inner) const {
    if (nests(outer, inner)) return true;
    for (const Extents& extents : samples()) {
      const ShardParts whole(mesh_, outer, extents);
      const ShardParts parts(mesh_, inner, extents);
      for (size_t p = 0; p < positions(); ++p) {
        if (!whole.contains(p, parts, p)) return false;
      }
    }
    return true;
  }

  size_t positions() const { return static_cast<size_t>(mesh_.size()); }

  // True if the members of each group together hold the new part of every member.
  bool members_hold_all(const AxisList& axes) const {
    const auto groups = position_groups(axes);
    for (const Extents& extents : samples()) {
      const ShardParts before(mesh_, from_, extents);
      const ShardParts after(mesh_, to_, extents);
      for (const auto& group : groups) {
        for (const size_t p : group) {
          int64_t held = 0;
          for (const size_t q : group) held += before.shared_volume(q, after, p);
          if (held != after.volume(p)) return false;
        }
      }
    }
    return true;
  }

  // True if the new parts of a group's members together make up the part that each of them had.
  bool members_take_all(const AxisList& axes) const {
    const auto groups = position_groups(axes);
    for (const Extents& extents : samples()) {
      const ShardParts before(mesh_, from_, extents);
      const ShardParts after(mesh_, to_, extents);
      for (const auto& group : groups) {
        int64_t taken = 0;
        for (const size_t p : group) {
          if (!before.contains(group.front(), after, p)) return false;
          taken += after.volume(p);
        }
        if (taken != before.volume(group.front())) return false;
      }
    }
    return true;
  }

  bool every_element_is_kept_once(const AxisList& fresh) const {
    const auto groups = position_groups(fresh);
    for (const Extents& extents : samples()) {
      const ShardParts before(mesh_, from_, extents);
      const ShardParts after(mesh_, to_, extents);
      for (const auto& group : groups) {
        const size_t first = group.front();
        int64_t held = 0;
        for (const size_t p : group) {
          if (!after.equal(p, after, first)) return false;
          if (!keeps_elements(mesh_, from_, to_, static_cast<int64_t>(p))) continue;
          held += before.shared_volume(p, after, first);
        }
        if (held != after.volume(first)) return false;
      }
    }
    return true;
  }

  std::vector<std::vector<size_t>> position_groups(const AxisList& axes) const {
    Mesh positions = mesh_;
    positions.device_ids.clear();
    std::vector<std::vector<size_t>> out;
    for (const auto& group : groups_over(positions, axes))
      out.emplace_back(group.begin(), group.end());
    return out;
  }

  // ---- packing

  // True if the blocks of a buffer of `whole` follow each other in group order: `cut` has the axes
  // of the step in addition, in the order of dimensions, and each block is contiguous. Other
  // dimensions of `cut` may be cut less.
  bool blocks_are_in_order(const Sharding& whole, const Sharding& cut, const AxisList& axes) const {
    AxisList added;
    size_t last = 0;
    for (size_t d = 0; d < cut.dims.size(); ++d) {
      const DimSharding& a = whole.dims[d];
      const DimSharding& b = cut.dims[d];
      if (a.is_placed() || b.is_placed()) return false;
      if (!a.axes.empty() && !b.axes.empty() && !a.cuts_alike(b)) return false;
      if (is_prefix(mesh_, b.axes, a.axes)) continue;
      if (!is_prefix(mesh_, a.axes, b.axes)) return false;
      added = joined(mesh_, added, suffix_after(mesh_, b.axes, a.axes));
      last = d;
    }
    return added == axes && (last == 0 || blocks_are_contiguous(whole, cut));
  }

  // A block is contiguous if it has only one index of every dimension before the last cut
  // dimension. A cut dimension of size 1 does not count: one rank keeps it, the others have no
  // block.
  bool blocks_are_contiguous(const Sharding& whole, const Sharding& cut) const {
    const auto largest = [](const std::vector<Range>& ranges) {
      int64_t size = 0;
      for (const Range& r : ranges) size = std::max(size, r.hi - r.lo);
      return size;
    };
    for (const Extents& extents : samples()) {
      const ShardParts a(mesh_, whole, extents);
      const ShardParts b(mesh_, cut, extents);
      bool is_cut_later = false;
      for (size_t d = extents.size(); d-- > 0;) {
        const bool is_cut = !is_prefix(mesh_, cut.dims[d].axes, whole.dims[d].axes);
        if (is_cut_later && largest((is_cut ? b : a).ranges(d)) > 1) return false;
        is_cut_later = is_cut_later || (is_cut && largest(a.ranges(d)) > 1);
      }
    }
    return true;
  }

  // The blocks of an all_to_all in a buffer of `whole`. It splits a plain buffer once, rows over
  // members, which suits a single axis that cuts rows alone and does not continue the axis before
  // it.
  Blocks blocks_between(const Sharding& whole, const Sharding& cut, const AxisList& axes) const {
    if (!blocks_are_in_order(whole, cut, axes)) return Blocks::kCopied;
    const DimSharding& a = whole.dims[0];
    const DimSharding& b = cut.dims[0];
    const bool splits_rows = axes.size() == 1 && !is_prefix(mesh_, b.axes, a.axes) &&
                             suffix_after(mesh_, b.axes, a.axes) == axes && !a.has_blocks() &&
                             !b.has_blocks() &&
                             (a.axes.empty() || a.axes.back().name != axes.front().name);
    return splits_rows ? Blocks::kPlain : Blocks::kInOrder;
  }

  // ---- permutations

  // A permutation needs equal part counts in each dimension.
  bool same_part_counts() const {
    for (size_t d = 0; d < to_.dims.size(); ++d) {
      if (part_count(mesh_, from_.dims[d].axes) != part_count(mesh_, to_.dims[d].axes))
        return false;
    }
    return true;
  }

  // The source position of each target position if boxes map one to one, else nullopt. A position
  // keeps its own box if it can. Partial values move only between equal partial coordinates.
  std::optional<std::vector<int64_t>> permutation() const {
    const std::optional<Extents>& extents = known_extents();
    const bool blocks = has_blocks(from_) || has_blocks(to_);
    if (!extents || (!blocks && !same_part_counts() && divides(from_, to_))) return std::nullopt;
    const ShardParts before(mesh_, from_, *extents);
    const ShardParts after(mesh_, to_, *extents);
    const BoxNumbers numbers(mesh_, from_.unreduced, before, after);
    std::vector<int64_t> source(positions(), kNobody);
    // By number: the first position that gives its box away; by position: the next one.
    std::vector<int64_t> first(numbers.count(), kNobody);
    std::vector<int64_t> next(positions(), kNobody);
    for (size_t p = positions(); p-- > 0;) {
      if (numbers.before(p) == numbers.after(p))
        source[p] = static_cast<int64_t>(p);
      else
        next[p] = std::exchange(first[numbers.before(p)], static_cast<int64_t>(p));
    }
    for (size_t p = 0; p < positions(); ++p) {
      if (source[p] != kNobody) continue;
      const std::optional<size_t> number = numbers.after(p);
      if (!number || first[*number] == kNobody) return std::nullopt;
      source[p] = first[*number];
      first[*number] = next[static_cast<size_t>(source[p])];
    }
    return source;
  }

  // The communicator spans the axes along which boxes move, if all its groups do the same, else
  // all axes.
  RedistributeStep permute(const std::vector<int64_t>& source) const {
    AxisList all, moving;
    for (const MeshAxis& axis : mesh_.axes) {
      const AxisRef whole{axis.name, 1, 0};
      if (axis.size <= 1) continue;
      all.push_back(whole);
      for (size_t p = 0; p < source.size(); ++p) {
        if (mesh_.coord(source[p], whole) == mesh_.coord(static_cast<int64_t>(p), whole)) continue;
        moving.push_back(whole);
        break;
      }
    }
    const auto pairs = moving.empty() ? std::nullopt : pairs_within(moving, source);
    RedistributeStep s = step(StepKind::kPermute, pairs ? moving : all);
    s.pairs = pairs ? *pairs : *pairs_within(all, source);
    return s;
  }

  // The pairs of positions in a communicator over the axes, in mesh order; nullopt if its groups
  // differ. Nobody sends an empty box.
  std::optional<IntLists> pairs_within(const AxisList& axes,
                                       const std::vector<int64_t>& source) const {
    const ShardParts after(mesh_, to_, *known_extents());
    std::map<int64_t, int64_t> from;  // by target
    for (size_t p = 0; p < source.size(); ++p) {
      const int64_t origin = after.volume(p) == 0 ? kNobody : place(axes, source[p]);
      const auto [at, is_new] = from.emplace(place(axes, static_cast<int64_t>(p)), origin);
      if (!is_new && at->second != origin) return std::nullopt;
    }
    IntLists pairs;
    for (const auto& [target, origin] : from) {
      if (origin != kNobody) pairs.push_back({origin, target});
    }
    std::sort(pairs.begin(), pairs.end());
    return pairs;
  }

  int64_t place(const AxisList& axes, int64_t position) const {
    int64_t out = 0;
    for (const AxisRef& axis : axes)
      out = out * mesh_.axis_size(axis) + mesh_.coord(position, axis);
    return out;
  }

  static constexpr int64_t kNobody = -1;  // sends
  const Mesh& mesh_;
  const Shape& shape_;
  const Sharding& from_;
  const Sharding& to_;
  mutable std::vector<Extents> samples_;  // these two are filled on first use
  mutable std::optional<std::optional<Extents>> extents_;
};

}  // namespace

std::vector<Extents> sample_extents(const Shape& shape) {
  if (auto known = constant_extents(shape)) return {std::move(*known)};
  std::vector<Extents> out;
  for (const int64_t size : {1009, 7, 5, 3, 1}) {
    Extents extents;
    for (const IndexExpr& e : shape) {
      const IndexExpr s = e.simplified();
      extents.push_back(s.is_const() ? s.value() : size);
    }
    out.push_back(std::move(extents));
  }
  return out;
}

bool has_blocks(const Sharding& s) {
  return std::any_of(s.dims.begin(), s.dims.end(),
                     [](const DimSharding& d) { return d.has_blocks(); });
}

std::string_view name(StepKind kind) {
  constexpr std::string_view kNames[] = {"local",      "all_reduce", "reduce_scatter",
                                         "all_gather", "all_to_all", "permute",
                                         "relabel",    "broadcast",  "reduce"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<RedistributeStep> single_step(const Mesh& mesh, const Shape& shape,
                                            const Sharding& from, const Sharding& to) {
  return StepMaker(mesh, shape, from, to).make();
}

}  // namespace hostir
