#include "hostir/passes/redistribute.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace hostir {

namespace {

// Sizes to try a plan on: the known ones, or awkward ones that stand for all.
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

// Whether the boxes before and after allow the step: cuts by parts of one axis are merged before
// cutting, so that an uneven cut by a part of an axis need not nest in that by the whole.
bool boxes_allow(const Mesh& mesh, const Extents& extents, const Sharding& from,
                 const RedistributeStep& step) {
  const std::vector<Box> before = shard_boxes(mesh, from, extents);
  const std::vector<Box> after = shard_boxes(mesh, step.to, extents);
  const bool reduces = step.kind == StepKind::kAllReduce || step.kind == StepKind::kReduceScatter;
  if (step.kind == StepKind::kPermute) return true;  // made from the boxes
  for (const auto& group : groups_over(mesh, step.axes)) {
    for (const int64_t to_rank : group) {
      const Box& wanted = after[static_cast<size_t>(*mesh.position_of(to_rank))];
      int64_t held = 0;
      for (const int64_t from_rank : group) {
        const Box& box = before[static_cast<size_t>(*mesh.position_of(from_rank))];
        if (reduces && !box.contains(wanted)) return false;
        held += box.intersect(wanted).volume();
      }
      if (!reduces && held != wanted.volume()) return false;
    }
  }
  return true;
}

// Plans one redistribution; `current_` walks from the source to the target.
class Planner {
 public:
  Planner(const Mesh& mesh, const Shape& shape, const Sharding& from, const Sharding& to)
      : mesh_(mesh),
        extents_(constant_extents(shape)),
        samples_(sample_extents(shape)),
        current_(effective(mesh, from)),
        target_(effective(mesh, to)) {}

  std::vector<RedistributeStep> plan() {
    const Sharding from = current_;
    std::vector<RedistributeStep> direct = plan_directly();
    if (current_ == target_ && is_sound(from, direct)) return direct;
    current_ = from;
    steps_.clear();
    return plan_by_replicating();
  }

 private:
  bool is_sound(const Sharding& from, const std::vector<RedistributeStep>& steps) const {
    const Sharding* before = &from;
    for (const RedistributeStep& s : steps) {
      for (const Extents& extents : samples_) {
        if (!boxes_allow(mesh_, extents, *before, s)) return false;
      }
      before = &s.to;
    }
    return true;
  }

  // Always possible: reduce as it lies, gather whole cuts until the rest is a slice.
  std::vector<RedistributeStep> plan_by_replicating() {
    const Sharding reduced_target = without_partial_axes_to_come();
    const AxisList rest = without(mesh_, current_.unreduced, reduced_target.unreduced);
    if (!rest.empty()) {
      Sharding reduced = current_;
      reduced.unreduced = without(mesh_, reduced.unreduced, rest);
      step(StepKind::kAllReduce, rest, reduced);
    }
    Sharding common = current_;
    for (size_t d = 0; d < common.dims.size(); ++d) {
      AxisList& mine = common.dims[d].axes;
      const AxisList& wanted = target_.dims[d].axes;
      size_t same = 0;
      while (same < mine.size() && same < wanted.size() && mine[same] == wanted[same]) ++same;
      mine.resize(same);
    }
    gather(canonical(mesh_, common));
    if (current_ != reduced_target) step(StepKind::kLocal, {}, reduced_target);
    if (current_ != target_) step(StepKind::kLocal, {}, target_);
    return std::move(steps_);
  }

  // The target without what is replicated before it becomes partial.
  Sharding without_partial_axes_to_come() const {
    const bool same_kind = current_.unreduced_kind == target_.unreduced_kind;
    Sharding out = target_;
    out.unreduced = same_kind ? without(mesh_, current_.unreduced,
                                        without(mesh_, current_.unreduced, target_.unreduced))
                              : AxisList{};
    out.unreduced_kind = out.unreduced.empty() ? Reduction::kSum : current_.unreduced_kind;
    return canonical(mesh_, out);
  }

  std::vector<RedistributeStep> plan_directly() {
    // 1. What the target leaves partial stays so; the rest is reduced.
    const Sharding reduced_target = without_partial_axes_to_come();
    reduce(reduced_target, without(mesh_, current_.unreduced, reduced_target.unreduced));
    // 2. Only the boxes differ now.
    move(reduced_target);
    // 3. Replicated to partial is local.
    if (current_ == reduced_target && current_ != target_) step(StepKind::kLocal, {}, target_);
    return std::exchange(steps_, {});
  }

  void step(StepKind kind, AxisList axes, const Sharding& to) {
    RedistributeStep s;
    s.kind = kind;
    s.axes = std::move(axes);
    s.to = canonical(mesh_, to);
    set_packing(s);
    current_ = s.to;
    steps_.push_back(std::move(s));
  }

  // Blocks lie along dimension 0 in group order where the cut by the step's axes is on dimension 0
  // alone and in that order; anything else is packed or unpacked.
  void set_packing(RedistributeStep& s) const {
    switch (s.kind) {
      case StepKind::kReduceScatter:
        s.pack = !cut_on_dimension_0(s.to, s.axes);
        break;
      case StepKind::kAllGather:
        s.unpack = !cut_on_dimension_0(current_, s.axes);
        break;
      case StepKind::kAllToAll:
        s.pack = !evenly_cut_on_dimension_0(s.to, s.axes);
        s.unpack = !evenly_cut_on_dimension_0(current_, s.axes);
        break;
      case StepKind::kLocal:
      case StepKind::kAllReduce:
      case StepKind::kPermute:
        break;
    }
  }

  bool cut_on_dimension_0(const Sharding& sharding, const AxisList& axes) const {
    if (sharding.dims.empty()) return axes.empty();
    const AxisList& cut = sharding.dims[0].axes;
    const AxisList head = without(mesh_, cut, axes);
    return is_prefix(mesh_, head, cut) && suffix_after(mesh_, cut, head) == axes;
  }

  // Plain buffers of an all_to_all are taken as cut once, rows over members: only a single axis
  // does that, and only if it is no continuation of the one before.
  bool evenly_cut_on_dimension_0(const Sharding& sharding, const AxisList& axes) const {
    if (axes.size() != 1 || !cut_on_dimension_0(sharding, axes)) return false;
    const AxisList head = without(mesh_, sharding.dims[0].axes, axes);
    return head.empty() || head.back().name != axes.front().name;
  }

  // Cuts further, locally, wherever the target only adds unused axes.
  Sharding sliced_towards(const Sharding& target) const {
    Sharding out = current_;
    AxisList used = dimension_axes(mesh_, out);
    used.insert(used.end(), out.unreduced.begin(), out.unreduced.end());
    for (size_t d = 0; d < out.dims.size(); ++d) {
      AxisList& mine = out.dims[d].axes;
      if (!is_prefix(mesh_, mine, target.dims[d].axes)) continue;
      const AxisList more =
          prefix_avoiding(mesh_, suffix_after(mesh_, target.dims[d].axes, mine), used);
      mine = joined(mesh_, mine, more);
      used.insert(used.end(), more.begin(), more.end());
    }
    return out;
  }

  void reduce(const Sharding& target, const AxisList& axes) {
    if (axes.empty()) return;
    const Sharding sliced = sliced_towards(target);
    if (sliced != current_) step(StepKind::kLocal, {}, sliced);
    // Axes that the target is cut over are scattered, at the minor end of their dimension.
    Sharding scattered = current_;
    AxisList scatter;
    for (size_t d = 0; d < scattered.dims.size(); ++d) {
      const AxisList& wanted = target.dims[d].axes;
      const AxisList mine = without(mesh_, wanted, without(mesh_, wanted, axes));
      scattered.dims[d].axes = joined(mesh_, scattered.dims[d].axes, mine);
      scatter = joined(mesh_, scatter, mine);
    }
    if (!scatter.empty()) {
      scattered.unreduced = without(mesh_, scattered.unreduced, scatter);
      step(StepKind::kReduceScatter, scatter, scattered);
    }
    const AxisList rest = without(mesh_, axes, scatter);
    if (rest.empty()) return;
    Sharding reduced = current_;
    reduced.unreduced = without(mesh_, reduced.unreduced, rest);
    step(StepKind::kAllReduce, rest, reduced);
  }

  bool is_local(const Sharding& target) const {
    for (const Extents& extents : samples_) {
      const std::vector<Box> from = shard_boxes(mesh_, current_, extents);
      const std::vector<Box> to = shard_boxes(mesh_, target, extents);
      for (size_t p = 0; p < from.size(); ++p) {
        if (!from[p].contains(to[p])) return false;
      }
    }
    return true;
  }

  bool is_gather(const Sharding& target) const {
    for (size_t d = 0; d < target.dims.size(); ++d) {
      if (!is_prefix(mesh_, target.dims[d].axes, current_.dims[d].axes)) return false;
    }
    return true;
  }

  // Source position for each target position where boxes map one to one, else nothing. A position
  // keeps its own box if it can; partial values move only between equal partial coordinates.
  std::optional<std::vector<int64_t>> permutation(const Sharding& target) const {
    if (!extents_) return std::nullopt;
    const std::vector<Box> from = shard_boxes(mesh_, current_, *extents_);
    const std::vector<Box> to = shard_boxes(mesh_, target, *extents_);
    using Key = std::pair<std::vector<int64_t>, std::vector<int64_t>>;
    const auto key = [&](const Box& box, size_t p) {
      Key k{box.lo, box.hi};
      for (const AxisRef& a : current_.unreduced) {
        k.first.push_back(mesh_.coord(static_cast<int64_t>(p), a));
      }
      return k;
    };
    std::map<Key, std::vector<int64_t>> holders;
    std::vector<int64_t> source(from.size(), -1);
    for (size_t p = 0; p < from.size(); ++p) {
      if (key(from[p], p) == key(to[p], p)) {
        source[p] = static_cast<int64_t>(p);
      } else {
        holders[key(from[p], p)].push_back(static_cast<int64_t>(p));
      }
    }
    for (size_t p = 0; p < to.size(); ++p) {
      if (source[p] >= 0) continue;
      std::vector<int64_t>& free = holders[key(to[p], p)];
      if (free.empty()) return std::nullopt;
      source[p] = free.front();
      free.erase(free.begin());
    }
    return source;
  }

  void permute(const Sharding& target, const std::vector<int64_t>& source) {
    AxisList all;
    for (const MeshAxis& axis : mesh_.axes) {
      if (axis.size > 1) all.push_back({axis.name, 1, 0});
    }
    step(StepKind::kPermute, all, target);
    // Over all axes in mesh order, positions in the communicator are those of the mesh.
    for (size_t p = 0; p < source.size(); ++p) {
      steps_.back().pairs.push_back({source[p], static_cast<int64_t>(p)});
    }
    std::sort(steps_.back().pairs.begin(), steps_.back().pairs.end());
  }

  void move(const Sharding& target) {
    if (current_ == target) return;
    if (is_local(target)) return step(StepKind::kLocal, {}, target);
    if (is_gather(target)) return gather(target);
    if (const auto source = permutation(target)) return permute(target, *source);
    exchange(target);
    if (is_gather(target)) gather(target);
  }

  // Slice by every axis that only the target uses, then bring each axis to its place in one
  // exchange; axes that only the source uses stay at the minor end of their dimension.
  void exchange(const Sharding& target) {
    Sharding sliced = sliced_towards(target);
    AxisList used = dimension_axes(mesh_, sliced);
    used.insert(used.end(), sliced.unreduced.begin(), sliced.unreduced.end());
    for (size_t d = 0; d < target.dims.size(); ++d) {
      const AxisList more = without(mesh_, target.dims[d].axes, used);
      sliced.dims[d].axes = joined(mesh_, sliced.dims[d].axes, more);
      used.insert(used.end(), more.begin(), more.end());
    }
    Sharding placed = target;
    const AxisList wanted = dimension_axes(mesh_, target);
    for (size_t d = 0; d < placed.dims.size(); ++d) {
      const AxisList extra = without(mesh_, sliced.dims[d].axes, wanted);
      placed.dims[d].axes = joined(mesh_, placed.dims[d].axes, extra);
    }
    sliced = canonical(mesh_, sliced);
    placed = canonical(mesh_, placed);
    if (!same_set(mesh_, dimension_axes(mesh_, sliced), dimension_axes(mesh_, placed))) {
      return;  // sub-axes that do not nest: found unsound
    }
    if (sliced != current_) step(StepKind::kLocal, {}, sliced);
    if (placed == current_) return;
    if (is_local(placed)) return step(StepKind::kLocal, {}, placed);
    if (const auto source = permutation(placed)) return permute(placed, *source);
    step(StepKind::kAllToAll, exchanged_axes(placed), placed);
  }

  // The axes after the common prefix of each dimension, in an order that spares packing if one
  // does.
  AxisList exchanged_axes(const Sharding& placed) const {
    AxisList leaving;
    AxisList arriving;
    for (size_t d = 0; d < placed.dims.size(); ++d) {
      const AxisList& a = current_.dims[d].axes;
      const AxisList& b = placed.dims[d].axes;
      const AxisList prefix = common_prefix(mesh_, a, b);
      leaving = joined(mesh_, leaving, suffix_after(mesh_, a, prefix));
      arriving = joined(mesh_, arriving, suffix_after(mesh_, b, prefix));
    }
    return cut_on_dimension_0(current_, leaving) ? leaving : arriving;
  }

  void gather(const Sharding& target) {
    if (current_ == target) return;
    AxisList axes;
    for (size_t d = 0; d < target.dims.size(); ++d) {
      const AxisList tail = suffix_after(mesh_, current_.dims[d].axes, target.dims[d].axes);
      axes = joined(mesh_, axes, tail);
    }
    step(StepKind::kAllGather, axes, target);
  }

  const Mesh& mesh_;
  std::optional<Extents> extents_;
  std::vector<Extents> samples_;
  Sharding current_;
  Sharding target_;
  std::vector<RedistributeStep> steps_;
};

constexpr double kCollectiveNs = 8000;    // latency of one collective
constexpr double kLinkBytesPerNs = 100;   // per rank and direction
constexpr double kKernelNs = 2000;        // one small kernel
constexpr double kCopyBytesPerNs = 2000;  // reading or writing device memory

}  // namespace

std::string_view name(StepKind kind) {
  constexpr std::string_view kNames[] = {"local",      "all_reduce", "reduce_scatter",
                                         "all_gather", "all_to_all", "permute"};
  return kNames[static_cast<size_t>(kind)];
}

std::vector<RedistributeStep> plan_redistribution(const Mesh& mesh, const Shape& shape,
                                                  const Sharding& from, const Sharding& to) {
  return Planner(mesh, shape, from, to).plan();
}

double largest_local_elems(const Mesh& mesh, const Shape& shape, const Sharding& sharding) {
  double out = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    const IndexExpr size = shape[d].simplified();
    int64_t n = size.is_const() ? size.value() : 1024;
    if (d < sharding.dims.size()) {
      for (const AxisRef& a : sharding.dims[d].axes) {
        const int64_t k = mesh.axis_size(a);
        n = n / k + (n % k != 0);
      }
    }
    out *= static_cast<double>(n);
  }
  return out;
}

double estimated_ns(const Mesh& mesh, const Shape& shape, DType dtype, const Sharding& from,
                    const std::vector<RedistributeStep>& steps) {
  double ns = 0;
  const auto bytes_of = [&](const Sharding& s) {
    return largest_local_elems(mesh, shape, s) * static_cast<double>(size_bytes(dtype));
  };
  double before = bytes_of(from);
  for (const RedistributeStep& s : steps) {
    const double after = bytes_of(s.to);
    const double k = static_cast<double>(part_count(mesh, s.axes));
    const double share = (k - 1) / k;
    double wire = 0;
    switch (s.kind) {
      case StepKind::kLocal:
        ns += kKernelNs + 2 * after / kCopyBytesPerNs;
        break;
      case StepKind::kAllReduce:
        wire = 2 * share * before;
        break;
      case StepKind::kReduceScatter:
      case StepKind::kAllToAll:
        wire = share * before;
        break;
      case StepKind::kAllGather:
        wire = share * after;
        break;
      case StepKind::kPermute:
        wire = before;
        break;
    }
    if (s.kind != StepKind::kLocal) ns += kCollectiveNs + wire / kLinkBytesPerNs;
    if (s.pack) ns += kKernelNs + 2 * before / kCopyBytesPerNs;
    if (s.unpack) ns += kKernelNs + 2 * after / kCopyBytesPerNs;
    before = after;
  }
  return ns;
}

}  // namespace hostir
