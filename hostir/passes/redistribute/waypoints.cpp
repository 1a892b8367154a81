#include "hostir/passes/redistribute/waypoints.h"

#include <algorithm>
#include <utility>

#include "hostir/support/lists.h"

namespace hostir {

namespace {

constexpr size_t kAxesPlaced = 2;
constexpr size_t kMaxDimsPlaced = 4;

// Proposes intermediate shardings on the way from a sharding to the target.
class Waypoints {
 public:
  Waypoints(const Mesh& mesh, const Sharding& target) : mesh_(mesh), target_(target) {}

  std::vector<Sharding> from(const Sharding& at) {
    out_.clear();
    const AxisList ending = ending_axes(at);
    add(target_);
    add(sliced(at));
    add_slices_for_an_exchange(at);
    if (!ending.empty()) {
      add(with_partial(at, without(mesh_, at.unreduced, ending)));
      add(scattered(at, ending, /*only_in_place=*/false));
      add(scattered(at, ending, /*only_in_place=*/true));
    } else if (at.unreduced != target_.unreduced) {
      add_partials(at);
    }
    add_gathers(at);
    add_exchanges(at);
    return std::move(out_);
  }

 private:
  void add(Sharding s) { out_.push_back(canonical(mesh_, std::move(s))); }

  static Sharding with_partial(Sharding s, AxisList unreduced) {
    s.unreduced = std::move(unreduced);
    return s;
  }

  // The partial axes that have to be reduced. These are all of them if the reduction kind changes,
  // or if cuts do not nest, because then it is undefined which rank keeps which addend.
  AxisList ending_axes(const Sharding& at) const {
    if (at.unreduced_kind != target_.unreduced_kind) return at.unreduced;
    const AxisList ending = without(mesh_, at.unreduced, target_.unreduced);
    const AxisList lasting = without(mesh_, at.unreduced, ending);
    const AxisList fresh = without(mesh_, target_.unreduced, lasting);
    const bool told_apart = same_set(mesh_, joined(mesh_, lasting, fresh), target_.unreduced);
    return told_apart ? ending : at.unreduced;
  }

  // `at`, cut further in each dimension where the target only adds unused axes.
  Sharding sliced(const Sharding& at) const {
    Sharding s = at;
    AxisList used = used_axes(at);
    for (size_t d = 0; d < s.dims.size(); ++d) {
      AxisList& mine = s.dims[d].axes;
      const AxisList& wanted = target_.dims[d].axes;
      if (!is_prefix(mesh_, mine, wanted)) continue;
      const AxisList more = prefix_avoiding(mesh_, suffix_after(mesh_, wanted, mine), used);
      mine = joined(mesh_, mine, more);
      used.insert(used.end(), more.begin(), more.end());
    }
    return s;
  }

  // Adds shardings that also use all unused axes of the target, so that one exchange can move them
  // into place. The axes cut their own dimension, or one whose axes move to that dimension.
  void add_slices_for_an_exchange(const Sharding& at) {
    Sharding own = sliced(at);
    Sharding along = own;
    AxisList used = used_axes(own);
    for (size_t d = 0; d < target_.dims.size(); ++d) {
      for (const AxisRef& axis : without(mesh_, target_.dims[d].axes, used)) {
        if (!can_stand_together(mesh_, {axis}, used)) continue;
        own.dims[d].axes = joined(mesh_, own.dims[d].axes, {axis});
        AxisList& source = along.dims[source_of(along, d)].axes;
        source = joined(mesh_, source, {axis});
        used.push_back(axis);
      }
    }
    add(own);
    add(along);
    add(sliced_to_parts(at));
  }

  // `at`, cut further until each dimension has as many parts as in the target, with axes in any
  // place; one permutation then moves them into place.
  Sharding sliced_to_parts(const Sharding& at) const {
    Sharding s = at;
    AxisList used = used_axes(at);
    for (const DimSharding& dim : target_.dims) {
      for (const AxisRef& axis : without(mesh_, dim.axes, used)) {
        if (!can_stand_together(mesh_, {axis}, used)) continue;
        if (place(axis, target_, s)) used.push_back(axis);
      }
    }
    return s;
  }

  // Appends the axis to the first dimension that has room for it, given the part counts of `parts`.
  bool place(const AxisRef& axis, const Sharding& parts, Sharding& into) const {
    for (size_t d = 0; d < into.dims.size(); ++d) {
      AxisList& mine = into.dims[d].axes;
      const int64_t count = part_count(mesh_, mine) * mesh_.axis_size(axis);
      if (part_count(mesh_, parts.dims[d].axes) % count != 0) continue;
      mine = joined(mesh_, mine, {axis});
      return true;
    }
    return false;
  }

  // Adds a sharding with the part counts of `at`. Each dimension gets the target's axes as far as
  // they fit, the last one perhaps in part; the remaining axes go where there is room.
  enum class Fit : uint8_t { kEntire, kPart };
  void add_permutation(const Sharding& at, Fit fit) {
    Sharding s = at;
    AxisList used;
    for (size_t d = 0; d < s.dims.size(); ++d) {
      AxisList& mine = s.dims[d].axes;
      const int64_t room = part_count(mesh_, mine);
      mine.clear();
      for (const AxisRef& axis : target_.dims[d].axes) {
        if (!without(mesh_, {axis}, dimension_axes(mesh_, at)).empty()) break;
        const int64_t left = room / part_count(mesh_, mine);
        const int64_t size = mesh_.axis_size(axis);
        if (left % size == 0) {
          mine = joined(mesh_, mine, {axis});
          continue;
        }
        if (fit == Fit::kPart && left > 1 && size % left == 0)
          mine = joined(mesh_, mine, {{axis.name, axis.pre, left}});
        break;
      }
      used.insert(used.end(), mine.begin(), mine.end());
    }
    // The target's axes come first, in its order, so that they are major to unwanted axes. After a
    // part of an axis, the rest of the axis comes last, because it leaves its dimension next.
    AxisList others = dimension_axes(mesh_, target_);
    const AxisList held = dimension_axes(mesh_, at);
    others = without(mesh_, others, without(mesh_, others, held));
    const AxisList unwanted = without(mesh_, held, others);
    others.insert(fit == Fit::kPart ? others.begin() : others.end(), unwanted.begin(),
                  unwanted.end());
    for (const AxisRef& axis : without(mesh_, others, used)) {
      if (!place(axis, at, s)) return;
    }
    add(s);
  }

  // Adds a sharding with the parts of `at` in which each axis that the target wants first in a
  // dimension has the place of the one that is there. All others stay, so that the permute to it
  // needs only the axes that trade places.
  void add_swaps(const Sharding& at) {
    Sharding s = at;
    for (size_t d = 0; d < s.dims.size(); ++d) {
      const AxisList& wanted = target_.dims[d].axes;
      for (size_t i = 0; i < wanted.size() && i < s.dims[d].axes.size(); ++i) {
        if (s.dims[d].axes[i] != wanted[i] && !swap(s, d, i, wanted[i])) break;
      }
    }
    if (s != at) add(s);
  }

  bool swap(Sharding& s, size_t d, size_t i, const AxisRef& wanted) const {
    AxisRef& there = s.dims[d].axes[i];
    const int64_t size = mesh_.axis_size(wanted);
    const int64_t room = mesh_.axis_size(there);
    for (DimSharding& dim : s.dims) {
      const auto at = std::find(dim.axes.begin(), dim.axes.end(), wanted);
      if (at == dim.axes.end()) continue;
      if (room == size) std::swap(*at, there);
      return room == size;
    }
    if (room % size != 0 || overlap(mesh_, {wanted}, used_axes(s))) return false;
    const AxisRef rest{there.name, there.pre * size, room / size};
    there = wanted;
    if (room > size)
      s.dims[d].axes.insert(s.dims[d].axes.begin() + static_cast<std::ptrdiff_t>(i) + 1, rest);
    return true;
  }

  // The dimension of `at` that now uses most of the axes of the target's dimension `d`.
  size_t source_of(const Sharding& at, size_t d) const {
    size_t best = d;
    int64_t most = 1;
    for (size_t e = 0; e < at.dims.size(); ++e) {
      const AxisList& mine = at.dims[e].axes;
      const AxisList staying = without(mesh_, mine, target_.dims[d].axes);
      const int64_t going = part_count(mesh_, mine) / part_count(mesh_, staying);
      if (e == d || going <= most) continue;
      most = going;
      best = e;
    }
    return best;
  }

  // Scatters the `ending` axes that the target uses, appending each to its dimension.
  Sharding scattered(const Sharding& at, const AxisList& ending, bool only_in_place) const {
    Sharding s = at;
    AxisList scatter;
    for (size_t d = 0; d < s.dims.size(); ++d) {
      AxisList& mine = s.dims[d].axes;
      const AxisList& wanted = target_.dims[d].axes;
      AxisList more;
      if (!only_in_place) {
        more = without(mesh_, wanted, without(mesh_, wanted, ending));
      } else if (is_prefix(mesh_, mine, wanted)) {
        const AxisList rest = suffix_after(mesh_, wanted, mine);
        const AxisList others = without(mesh_, rest, ending);
        more = prefix_avoiding(mesh_, rest, others);
      }
      mine = joined(mesh_, mine, more);
      scatter.insert(scatter.end(), more.begin(), more.end());
    }
    s.unreduced = without(mesh_, s.unreduced, scatter);
    return s;
  }

  // Makes the value partial like the target; the target's partial axes no longer cut a dimension.
  void add_partials(const Sharding& at) {
    Sharding s = at;
    s.unreduced = target_.unreduced;
    s.unreduced_kind = target_.unreduced_kind;
    for (DimSharding& d : s.dims) {
      AxisList kept;
      for (const AxisRef& axis : without(mesh_, d.axes, target_.unreduced)) {
        kept = joined(mesh_, kept, {axis});
      }
      d.axes = kept;
    }
    add(s);
    s.dims = target_.dims;
    add(s);
  }

  void add_gathers(const Sharding& at) {
    Sharding common = at;
    Sharding entire = at;
    Sharding unwanted = at;
    const AxisList wanted = dimension_axes(mesh_, target_);
    for (size_t d = 0; d < at.dims.size(); ++d) {
      const AxisList& mine = at.dims[d].axes;
      const AxisList& theirs = target_.dims[d].axes;
      common.dims[d].axes = common_prefix(mesh_, mine, theirs);
      size_t same = 0;
      while (same < mine.size() && same < theirs.size() && mine[same] == theirs[same]) ++same;
      entire.dims[d].axes.resize(same);
      unwanted.dims[d].axes = without_unwanted_tail(mine, wanted);
      Sharding one = at;
      one.dims[d].axes = common.dims[d].axes;
      if (at.dims.size() > 1) add(one);
    }
    add(common);
    add(entire);
    add(unwanted);
  }

  // `axes` up to the last one that cuts the target in any dimension.
  AxisList without_unwanted_tail(AxisList axes, const AxisList& wanted) const {
    while (!axes.empty() && !overlap(mesh_, {axes.back()}, wanted)) axes.pop_back();
    if (axes.empty()) return axes;
    const AxisList last = {axes.back()};
    axes.pop_back();
    const AxisList needed = without(mesh_, last, without(mesh_, last, wanted));
    const AxisList major = common_prefix(mesh_, last, needed);
    return joined(mesh_, axes, major.empty() ? last : major);
  }

  // Adds a sharding that only moves axes which already cut some dimension: each dimension gets the
  // target's axes as far as possible, and unwanted axes stay at the minor end of their dimension.
  void add_exchanges(const Sharding& at) {
    const AxisList held = dimension_axes(mesh_, at);
    Sharding placed = at;
    AxisList used;
    for (size_t d = 0; d < placed.dims.size(); ++d) {
      AxisList mine;
      for (const AxisRef& axis : target_.dims[d].axes) {
        const AxisList missing = without(mesh_, {axis}, held);
        const AxisList there = prefix_avoiding(mesh_, {axis}, missing);
        mine = joined(mesh_, mine, there);
        if (!missing.empty()) break;
      }
      placed.dims[d].axes = mine;
      used.insert(used.end(), mine.begin(), mine.end());
    }
    for (size_t d = 0; d < placed.dims.size(); ++d) {
      const AxisList extra = without(mesh_, at.dims[d].axes, used);
      placed.dims[d].axes = joined(mesh_, placed.dims[d].axes, extra);
    }
    add(placed);
    add_permutation(at, Fit::kEntire);
    add_permutation(at, Fit::kPart);
    add_swaps(at);
  }

  const Mesh& mesh_;
  const Sharding& target_;
  std::vector<Sharding> out_;
};

// The axes of both shardings; none if two of them overlap without being equal.
AxisList axes_of_both(const Mesh& mesh, const Sharding& a, const Sharding& b) {
  AxisList out;
  for (const Sharding* s : {&a, &b}) {
    for (const AxisRef& axis : used_axes(*s)) {
      if (contains(out, axis)) continue;
      if (!can_stand_together(mesh, {axis}, out)) return {};
      out.push_back(axis);
    }
  }
  return out;
}

// Extends `placings` by all ways to place the axis: nowhere, unreduced, or in a dimension, major or
// minor to what cuts it already.
void add_placings(const AxisRef& axis, bool may_be_partial, std::vector<Sharding>& placings) {
  for (size_t p = 0, before = placings.size(); p < before; ++p) {
    if (may_be_partial) {
      Sharding s = placings[p];
      s.unreduced.push_back(axis);
      placings.push_back(std::move(s));
    }
    for (size_t d = 0; d < placings[p].dims.size(); ++d) {
      Sharding minor = placings[p];
      Sharding major = minor;
      minor.dims[d].axes.push_back(axis);
      major.dims[d].axes.insert(major.dims[d].axes.begin(), axis);
      if (major != minor) placings.push_back(std::move(major));
      placings.push_back(std::move(minor));
    }
  }
}

}  // namespace

std::vector<Sharding> waypoints(const Mesh& mesh, const Sharding& at, const Sharding& target) {
  return Waypoints(mesh, target).from(at);
}

std::vector<Sharding> every_placing(const Mesh& mesh, const Sharding& source,
                                    const Sharding& target, const AxisList& others) {
  AxisList axes = axes_of_both(mesh, source, target);
  axes.insert(axes.end(), others.begin(), others.end());
  if (axes.size() != kAxesPlaced || target.dims.size() > kMaxDimsPlaced) return {};
  Sharding none = target;
  none.unreduced.clear();
  for (DimSharding& d : none.dims) d.axes.clear();
  std::vector<Sharding> out = {std::move(none)};
  const bool may_be_partial = source.is_partial() || target.is_partial();
  for (const AxisRef& axis : axes)
    add_placings(axis, may_be_partial && !overlap(mesh, {axis}, others), out);
  for (Sharding& s : out) s = canonical(mesh, std::move(s));
  return out;
}

}  // namespace hostir
