#include "hostir/passes/redistribute_step.h"

#include <algorithm>
#include <map>
#include <utility>

namespace hostir {

namespace {

AxisList all_axes(const Sharding& s) {
  AxisList out = s.unreduced;
  for (const DimSharding& d : s.dims) out.insert(out.end(), d.axes.begin(), d.axes.end());
  return out;
}

// True if `list` starts with all entries of `head`, none of them split.
bool begins_with(const AxisList& list, const AxisList& head) {
  return head.size() <= list.size() && std::equal(head.begin(), head.end(), list.begin());
}

class StepMaker {
 public:
  StepMaker(const Mesh& mesh, const Shape& shape, const Sharding& from, const Sharding& to)
      : mesh_(mesh), shape_(shape), from_(from), to_(to) {}

  std::optional<RedistributeStep> make() {
    if (from_ == to_ || !axis_faults(mesh_, all_axes(to_)).empty()) return std::nullopt;
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
    s.pack = !cut_on_dimension_0(from_, to_, scattered);
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
    RedistributeStep s = step(StepKind::kAllGather, axes);
    s.unpack = !cut_on_dimension_0(to_, from_, axes);
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
      const AxisList prefix = common_prefix(mesh_, a, b);
      entire = entire && begins_with(a, prefix) && begins_with(b, prefix);
      leaving = joined(mesh_, leaving, suffix_after(mesh_, a, prefix));
      arriving = joined(mesh_, arriving, suffix_after(mesh_, b, prefix));
    }
    if (!same_set(mesh_, leaving, arriving)) return std::nullopt;
    // Choose the group order that avoids packing, if there is one.
    AxisList axes = cut_on_dimension_0(to_, from_, leaving) ? leaving : arriving;
    if (!entire && !divides(from_, to_) && !members_hold_all(axes)) return std::nullopt;
    RedistributeStep s = step(StepKind::kAllToAll, std::move(axes));
    s.pack = !evenly_cut_on_dimension_0(from_, to_, s.axes);
    s.unpack = !evenly_cut_on_dimension_0(to_, from_, s.axes);
    return s;
  }

  // ---- boxes

  const std::vector<Extents>& samples() const {
    if (samples_.empty()) samples_ = sample_extents(shape_);
    return samples_;
  }

  // True if all parts of both shardings have equal size; then cuts by sub-axes nest as written.
  bool divides(const Sharding& a, const Sharding& b) const {
    const auto extents = constant_extents(shape_);
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
      if (!is_prefix(mesh_, a, b)) return false;
      entire = entire && begins_with(b, a);
    }
    return entire || divides(outer, inner);
  }

  bool parts_lie_inside(const Sharding& outer, const Sharding& inner) const {
    if (nests(outer, inner)) return true;
    for (const Extents& extents : samples()) {
      for (int64_t p = 0; p < mesh_.size(); ++p) {
        const Box box = shard_box(mesh_, outer, extents, p);
        if (!box.contains(shard_box(mesh_, inner, extents, p))) return false;
      }
    }
    return true;
  }

  // True if the members of each group together hold the new part of every member.
  bool members_hold_all(const AxisList& axes) const {
    const auto groups = position_groups(axes);
    for (const Extents& extents : samples()) {
      const std::vector<Box> before = shard_boxes(mesh_, from_, extents);
      const std::vector<Box> after = shard_boxes(mesh_, to_, extents);
      for (const auto& group : groups) {
        for (const size_t p : group) {
          int64_t held = 0;
          for (const size_t q : group) held += before[q].intersect(after[p]).volume();
          if (held != after[p].volume()) return false;
        }
      }
    }
    return true;
  }

  // True if the new parts of a group's members together make up the part that each of them had.
  bool members_take_all(const AxisList& axes) const {
    const auto groups = position_groups(axes);
    for (const Extents& extents : samples()) {
      const std::vector<Box> before = shard_boxes(mesh_, from_, extents);
      const std::vector<Box> after = shard_boxes(mesh_, to_, extents);
      for (const auto& group : groups) {
        int64_t taken = 0;
        for (const size_t p : group) {
          if (!before[group.front()].contains(after[p])) return false;
          taken += after[p].volume();
        }
        if (taken != before[group.front()].volume()) return false;
      }
    }
    return true;
  }

  bool every_element_is_kept_once(const AxisList& fresh) const {
    const auto groups = position_groups(fresh);
    for (const Extents& extents : samples()) {
      const std::vector<Box> before = shard_boxes(mesh_, from_, extents);
      const std::vector<Box> after = shard_boxes(mesh_, to_, extents);
      for (const auto& group : groups) {
        const Box& whole = after[group.front()];
        int64_t held = 0;
        for (const size_t p : group) {
          if (!(after[p] == whole)) return false;
          if (!keeps_elements(mesh_, from_, to_, static_cast<int64_t>(p))) continue;
          held += before[p].intersect(whole).volume();
        }
        if (held != whole.volume()) return false;
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

  // True if blocks are along dimension 0 in group order: `cut` has the axes of the step, in that
  // order, on dimension 0 and `whole` does not. Other dimensions of `cut` may be cut less.
  bool cut_on_dimension_0(const Sharding& whole, const Sharding& cut, const AxisList& axes) const {
    if (cut.dims.empty()) return axes.empty();
    if (cut.dims[0].axes != joined(mesh_, whole.dims[0].axes, axes)) return false;
    for (size_t d = 1; d < cut.dims.size(); ++d) {
      if (!is_prefix(mesh_, cut.dims[d].axes, whole.dims[d].axes)) return false;
    }
    return true;
  }

  // An all_to_all splits a plain buffer once, rows over members. That requires a single axis that
  // does not continue the axis before it.
  bool evenly_cut_on_dimension_0(const Sharding& whole, const Sharding& cut,
                                 const AxisList& axes) const {
    if (axes.size() != 1 || !cut_on_dimension_0(whole, cut, axes)) return false;
    const AxisList& head = whole.dims[0].axes;
    return head.empty() || head.back().name != axes.front().name;
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
    const auto extents = constant_extents(shape_);
    if (!extents || (!same_part_counts() && divides(from_, to_))) return std::nullopt;
    const std::vector<Box> before = shard_boxes(mesh_, from_, *extents);
    const std::vector<Box> after = shard_boxes(mesh_, to_, *extents);
    using Key = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
    const auto key = [&](const Box& box, size_t p) {
      Key k{box.lo, box.hi};
      for (const AxisRef& a : from_.unreduced) {
        k.first.push_back(mesh_.coord(static_cast<int64_t>(p), a));
      }
      return k;
    };
    std::map<Key, std::vector<int64_t>> holders;
    std::vector<int64_t> source(before.size(), -1);
    for (size_t p = 0; p < before.size(); ++p) {
      if (before[p] == after[p]) {
        source[p] = static_cast<int64_t>(p);
      } else {
        holders[key(before[p], p)].push_back(static_cast<int64_t>(p));
      }
    }
    std::map<Key, size_t> taken;
    for (size_t p = 0; p < after.size(); ++p) {
      if (source[p] >= 0) continue;
      const Key k = key(after[p], p);
      const auto held = holders.find(k);
      size_t& next = taken[k];
      if (held == holders.end() || next == held->second.size()) return std::nullopt;
      source[p] = held->second[next++];
    }
    return source;
  }

  RedistributeStep permute(const std::vector<int64_t>& source) const {
    AxisList all;
    for (const MeshAxis& axis : mesh_.axes) {
      if (axis.size > 1) all.push_back({axis.name, 1, 0});
    }
    RedistributeStep s = step(StepKind::kPermute, std::move(all));
    // The communicator spans all axes in mesh order, so its positions are those of the mesh.
    for (size_t p = 0; p < source.size(); ++p) {
      s.pairs.push_back({source[p], static_cast<int64_t>(p)});
    }
    std::sort(s.pairs.begin(), s.pairs.end());
    return s;
  }

  const Mesh& mesh_;
  const Shape& shape_;
  const Sharding& from_;
  const Sharding& to_;
  mutable std::vector<Extents> samples_;  // filled on first use
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

std::string_view name(StepKind kind) {
  constexpr std::string_view kNames[] = {"local",      "all_reduce", "reduce_scatter", "all_gather",
                                         "all_to_all", "permute",    "relabel"};
  return kNames[static_cast<size_t>(kind)];
}

std::optional<RedistributeStep> single_step(const Mesh& mesh, const Shape& shape,
                                            const Sharding& from, const Sharding& to) {
  return StepMaker(mesh, shape, from, to).make();
}

}  // namespace hostir
