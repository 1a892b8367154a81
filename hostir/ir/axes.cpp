#include "hostir/ir/axes.h"

#include <algorithm>
#include <optional>

namespace hostir {

namespace {

// The reference with its size filled in, so that whole axes and sub-axes have the same form.
AxisRef expanded(const Mesh& mesh, AxisRef a) {
  if (a.whole()) {
    a.pre = 1;
    a.size = mesh.axis_size(a);
  }
  return a;
}

AxisList expanded(const Mesh& mesh, const AxisList& list) {
  AxisList out;
  out.reserve(list.size());
  for (const AxisRef& a : list) out.push_back(expanded(mesh, a));
  return out;
}

// Nearly all lists have whole axes only, and lowering compares them millions of times. Such axes
// are equal or independent, so their names decide.
bool all_whole(const AxisList& list) {
  return std::all_of(list.begin(), list.end(), [](const AxisRef& a) { return a.whole(); });
}

const AxisRef* find_named(const AxisList& list, const std::string& name) {
  const auto at =
      std::find_if(list.begin(), list.end(), [&](const AxisRef& a) { return a.name == name; });
  return at == list.end() ? nullptr : &*at;
}

bool share_a_name(const AxisList& a, const AxisList& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](const AxisRef& x) { return find_named(b, x.name) != nullptr; });
}

size_t common_length(const AxisList& a, const AxisList& b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n].name == b[n].name) ++n;
  return n;
}

AxisList first_of(const AxisList& list, size_t n) {
  return {list.begin(), list.begin() + static_cast<std::ptrdiff_t>(n)};
}

// The pieces of `a` outside `b`; nullopt if the two do not nest.
std::optional<AxisList> pieces_outside(const AxisRef& a, const AxisRef& b) {
  const int64_t a_end = a.pre * a.size;
  const int64_t b_end = b.pre * b.size;
  const int64_t lo = std::max(a.pre, b.pre);
  const int64_t hi = std::min(a_end, b_end);
  if (lo % a.pre != 0 || hi % lo != 0 || a_end % hi != 0) return std::nullopt;
  AxisList out;
  if (lo > a.pre) out.push_back({a.name, a.pre, lo / a.pre});
  if (a_end > hi) out.push_back({a.name, hi, a_end / hi});
  return out;
}

bool overlap_expanded(const AxisRef& a, const AxisRef& b) {
  if (a.name != b.name) return false;
  return std::max(a.pre, b.pre) < std::min(a.pre * a.size, b.pre * b.size);
}

// True if both coordinates are digits of one mixed-radix number: the minor axis starts at a
// multiple of the end of the major one.
bool nest_side_by_side(const AxisRef& a, const AxisRef& b) {
  if (a.pre * a.size <= b.pre) return b.pre % (a.pre * a.size) == 0;
  if (b.pre * b.size <= a.pre) return a.pre % (b.pre * b.size) == 0;
  return false;
}

bool together_expanded(const AxisRef& a, const AxisRef& b) {
  return a.name != b.name || (!(a == b) && nest_side_by_side(a, b));
}

// The largest major part of `ref` that is compatible with `used`; its size is 1 if there is none.
AxisRef part_beside(const AxisRef& ref, const AxisList& used) {
  for (int64_t size = ref.size; size > 1; --size) {
    if (ref.size % size != 0) continue;
    const AxisRef part{ref.name, ref.pre, size};
    const bool fits = std::all_of(used.begin(), used.end(),
                                  [&](const AxisRef& u) { return together_expanded(part, u); });
    if (fits) return part;
  }
  return {ref.name, ref.pre, 1};
}

std::string quoted(const std::string& name) { return "\"" + name + "\""; }

// What is wrong with one reference on its own.
std::optional<AxisFault> fault_of(const Mesh& mesh, const AxisRef& axis) {
  const auto index = mesh.axis_index(axis.name);
  if (!index) {
    return AxisFault{0, "mesh_c2", "unknown axis " + quoted(axis.name) + " in mesh @" + mesh.name};
  }
  if (axis.whole()) return std::nullopt;
  const int64_t size = mesh.axes[*index].size;
  // Division, because a product could overflow: sub-axes written in a program may be huge.
  const bool fits =
      axis.pre >= 1 && axis.size >= 2 && size % axis.pre == 0 && (size / axis.pre) % axis.size == 0;
  if (!fits) {
    return AxisFault{0, "sharding_c4",
                     "sub-axis " + axis.to_string() + " does not cut axis " + quoted(axis.name) +
                         " of size " + std::to_string(size) + " evenly"};
  }
  if (axis.pre == 1 && axis.size == size) {
    return AxisFault{0, "sharding_c6",
                     "sub-axis " + axis.to_string() + " is the whole axis, write " + axis.name};
  }
  return std::nullopt;
}

// What is wrong with using `axis` together with `earlier`; each is valid on its own.
std::optional<AxisFault> fault_beside(const AxisRef& earlier, const AxisRef& axis) {
  if (earlier.name != axis.name) return std::nullopt;
  if (earlier == axis) {
    return AxisFault{0, "sharding_c2", "axis " + quoted(axis.to_string()) + " appears twice"};
  }
  if (earlier.whole() || axis.whole() || overlap_expanded(earlier, axis)) {
    return AxisFault{0, "sharding_c3",
                     earlier.to_string() + " and " + axis.to_string() + " overlap"};
  }
  if (nest_side_by_side(earlier, axis)) return std::nullopt;
  const bool in_order = earlier.pre < axis.pre;
  const AxisRef& major = in_order ? earlier : axis;
  const AxisRef& minor = in_order ? axis : earlier;
  return AxisFault{0, "sharding_c9",
                   earlier.to_string() + " and " + axis.to_string() +
                       " cannot be used together: " + std::to_string(major.pre * major.size) +
                       ", where " + major.to_string() + " ends, does not divide " +
                       std::to_string(minor.pre) + ", where " + minor.to_string() + " begins"};
}

}  // namespace

std::vector<AxisFault> axis_faults(const Mesh& mesh, std::span<const AxisRef> axes) {
  std::vector<AxisFault> out;
  std::vector<bool> sound(axes.size(), true);
  for (size_t i = 0; i < axes.size(); ++i) {
    std::optional<AxisFault> fault = fault_of(mesh, axes[i]);
    sound[i] = !fault;
    for (size_t j = 0; j < i && sound[i] && !fault; ++j) {
      if (sound[j]) fault = fault_beside(axes[j], axes[i]);
    }
    if (!fault) continue;
    fault->index = i;
    out.push_back(std::move(*fault));
  }
  return out;
}

int64_t part_count(const Mesh& mesh, const AxisList& axes) {
  int64_t n = 1;
  for (const AxisRef& a : axes) n *= mesh.axis_size(a);
  return n;
}

bool overlap(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  if (a.name == b.name && a.whole() && b.whole()) return true;  // even at size 1
  return overlap_expanded(expanded(mesh, a), expanded(mesh, b));
}

bool overlap(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  for (const AxisRef& x : a) {
    for (const AxisRef& y : b) {
      if (overlap(mesh, x, y)) return true;
    }
  }
  return false;
}

bool can_stand_together(const Mesh& mesh, const AxisRef& a, const AxisRef& b) {
  return together_expanded(expanded(mesh, a), expanded(mesh, b));
}

bool can_stand_together(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  for (const AxisRef& x : a) {
    for (const AxisRef& y : b) {
      if (!can_stand_together(mesh, x, y)) return false;
    }
  }
  return true;
}

AxisList common_prefix(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  if (a.empty() || b.empty()) return {};
  if (all_whole(a) && all_whole(b)) return first_of(a, common_length(a, b));
  const AxisList left = expanded(mesh, a);
  const AxisList right = expanded(mesh, b);
  AxisList out;
  for (size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
    const AxisRef& x = left[i];
    const AxisRef& y = right[i];
    if (x == y) {
      out.push_back(x);
      continue;
    }
    if (x.name == y.name && x.pre == y.pre) {
      const int64_t small = std::min(x.size, y.size);
      if (std::max(x.size, y.size) % small == 0) out.push_back({x.name, x.pre, small});
    }
    break;
  }
  return merged_axes(mesh, out);
}

bool is_prefix(const Mesh& mesh, const AxisList& prefix, const AxisList& list) {
  if (prefix.empty()) return true;
  if (all_whole(prefix) && all_whole(list)) return common_length(prefix, list) == prefix.size();
  return common_prefix(mesh, prefix, list) == merged_axes(mesh, prefix);
}

AxisList suffix_after(const Mesh& mesh, const AxisList& list, const AxisList& prefix) {
  if (all_whole(prefix) && all_whole(list)) {
    const size_t n = std::min(prefix.size(), list.size());
    return {list.begin() + static_cast<std::ptrdiff_t>(n), list.end()};
  }
  const AxisList all = expanded(mesh, list);
  const AxisList head = expanded(mesh, prefix);
  AxisList out;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i < head.size()) {
      const AxisRef& h = head[i];
      if (all[i].size > h.size) out.push_back({h.name, h.pre * h.size, all[i].size / h.size});
    } else {
      out.push_back(all[i]);
    }
  }
  return merged_axes(mesh, out);
}

AxisList prefix_avoiding(const Mesh& mesh, const AxisList& list, const AxisList& used) {
  if (list.empty() || used.empty()) return merged_axes(mesh, list);
  if (all_whole(list) && (all_whole(used) || !share_a_name(list, used))) {
    size_t n = 0;
    while (n < list.size() && find_named(used, list[n].name) == nullptr) ++n;
    return first_of(list, n);
  }
  const AxisList taken = expanded(mesh, used);
  AxisList out;
  for (const AxisRef& ref : expanded(mesh, list)) {
    const bool clash = std::any_of(taken.begin(), taken.end(),
                                   [&](const AxisRef& u) { return !together_expanded(ref, u); });
    if (!clash) {
      out.push_back(ref);
      continue;
    }
    const AxisRef part = part_beside(ref, taken);
    if (part.size > 1) out.push_back(part);
    break;
  }
  return merged_axes(mesh, out);
}

AxisList without(const Mesh& mesh, const AxisList& list, const AxisList& removed) {
  if (list.empty() || removed.empty()) return merged_axes(mesh, list);
  if (all_whole(list) && (all_whole(removed) || !share_a_name(list, removed))) {
    AxisList kept = list;
    std::erase_if(kept, [&](const AxisRef& a) { return find_named(removed, a.name) != nullptr; });
    return kept;
  }
  AxisList current = expanded(mesh, list);
  for (const AxisRef& r : expanded(mesh, removed)) {
    AxisList next;
    for (const AxisRef& a : current) {
      if (a == r) continue;  // needed for axes of size 1, which overlap nothing
      if (!overlap_expanded(a, r)) {
        next.push_back(a);
        continue;
      }
      const auto pieces = pieces_outside(a, r);
      if (pieces) {
        next.insert(next.end(), pieces->begin(), pieces->end());
      } else {
        next.push_back(a);
      }
    }
    current = std::move(next);
  }
  return merged_axes(mesh, current);
}

AxisList joined(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  if (a.empty()) return merged_axes(mesh, b);
  if (b.empty()) return merged_axes(mesh, a);
  if (!share_a_name(a, b) && all_whole(a) && all_whole(b)) {
    AxisList both = a;
    both.insert(both.end(), b.begin(), b.end());
    return both;
  }
  AxisList out = expanded(mesh, a);
  for (const AxisRef& ref : expanded(mesh, b)) out.push_back(ref);
  return merged_axes(mesh, out);
}

bool same_set(const Mesh& mesh, const AxisList& a, const AxisList& b) {
  return part_count(mesh, a) == part_count(mesh, b) && part_count(mesh, without(mesh, a, b)) == 1 &&
         part_count(mesh, without(mesh, b, a)) == 1;
}

AxisList used_axes(const Sharding& sharding) {
  AxisList out = sharding.unreduced;
  for (const DimSharding& d : sharding.dims) out.insert(out.end(), d.axes.begin(), d.axes.end());
  return out;
}

AxisList dimension_axes(const Mesh& mesh, const Sharding& sharding) {
  AxisList out;
  for (const DimSharding& d : sharding.dims) {
    if (all_whole(d.axes)) {
      out.insert(out.end(), d.axes.begin(), d.axes.end());
      continue;
    }
    for (const AxisRef& a : d.axes) out.push_back(expanded(mesh, a));
  }
  return merged_axes(mesh, out);
}

Sharding canonical(const Mesh& mesh, Sharding sharding) {
  for (DimSharding& d : sharding.dims) {
    if (!all_whole(d.axes)) d.axes = merged_axes(mesh, expanded(mesh, d.axes));
    d.open = false;
    d.priority = 0;
    if (d.axes.empty()) d.clear_blocks();
  }
  sharding.pinned.clear();
  if (sharding.unreduced.empty()) {
    sharding.unreduced_kind = Reduction::kSum;
    return sharding;
  }
  AxisList unreduced = expanded(mesh, sharding.unreduced);
  std::sort(unreduced.begin(), unreduced.end(), [&](const AxisRef& a, const AxisRef& b) {
    const auto ia = mesh.axis_index(a.name);
    const auto ib = mesh.axis_index(b.name);
    return ia != ib ? ia < ib : a.pre < b.pre;
  });
  sharding.unreduced = merged_axes(mesh, unreduced);
  return sharding;
}

Sharding effective(const Mesh& mesh, Sharding sharding) {
  const auto drop_units = [&](AxisList& axes) {
    std::erase_if(axes, [&](const AxisRef& a) { return mesh.axis_size(a) == 1; });
  };
  for (DimSharding& d : sharding.dims) drop_units(d.axes);
  drop_units(sharding.unreduced);
  return canonical(mesh, std::move(sharding));
}

bool keeps_elements(const Mesh& mesh, const Sharding& from, const Sharding& to, int64_t position) {
  AxisList fresh = without(mesh, to.unreduced, from.unreduced);
  fresh = without(mesh, fresh, dimension_axes(mesh, from));
  return std::all_of(fresh.begin(), fresh.end(),
                     [&](const AxisRef& a) { return mesh.coord(position, a) == 0; });
}

AxisDigit::AxisDigit(const Mesh& mesh, const AxisRef& axis) : size(mesh.axis_size(axis)) {
  const size_t index = *mesh.axis_index(axis.name);
  if (!axis.whole()) stride = mesh.axes[index].size / (axis.pre * axis.size);
  for (size_t i = index + 1; i < mesh.axes.size(); ++i) stride *= mesh.axes[i].size;
}

std::string axes_to_string(const AxisList& axes, bool open) {
  std::string out = "{";
  for (size_t i = 0; i < axes.size(); ++i) out += (i ? ", " : "") + axes[i].to_string();
  if (open) out += axes.empty() ? "?" : ", ?";
  return out + "}";
}

}  // namespace hostir
