#include "hostir/import/layout/layout_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

int64_t local_size(const Parts& parts) {
  int64_t size = 1;
  for (const Part& part : parts) {
    if (!part.is_axis()) size *= part.size;
  }
  return size;
}

Part local_part(int64_t size) {
  Part part;
  part.size = size;
  return part;
}

Part axis_part(const std::string& axis) {
  Part part;
  part.axis = axis;
  return part;
}

Parts::iterator first_local(Parts& parts) {
  return std::find_if(parts.begin(), parts.end(), [](const Part& p) { return !p.is_axis(); });
}

// The end of the group that starts at `begin`: axes, and the local index after them if there is
// one.
size_t group_end(const Parts& parts, size_t begin) {
  size_t end = begin;
  while (end < parts.size() && parts[end].is_axis()) ++end;
  return std::min(end + 1, parts.size());
}

// True if the group has axes and one element per device.
bool is_unit_group(const Parts& parts, size_t begin, size_t end) {
  return begin < end && parts[begin].is_axis() &&
         (parts[end - 1].is_axis() || parts[end - 1].size == 1);
}

// Moves groups from `parts`, starting at `at`, to `to` until `to` has `size` local elements. False
// if the groups cannot be divided this way.
bool take(Parts& parts, size_t& at, int64_t size, Parts& to) {
  int64_t left = size;
  while (left > 1) {
    const size_t end = group_end(parts, at);
    if (end == at) return false;
    Part& last = parts[end - 1];
    if (!last.is_axis() && last.size > left) {
      if (last.size % left != 0) return false;
      to.insert(to.end(), parts.begin() + static_cast<int64_t>(at),
                parts.begin() + static_cast<int64_t>(end));
      to.back().size = left;
      last.size /= left;
      last.home.clear();
      at = end - 1;
      return true;
    }
    if (!last.is_axis()) {
      if (left % last.size != 0) return false;
      left /= last.size;
    }
    to.insert(to.end(), parts.begin() + static_cast<int64_t>(at),
              parts.begin() + static_cast<int64_t>(end));
    at = end;
  }
  return true;
}

// Divides the parts of a run of dimensions among the dimensions `to` from `first` to `last`.
void divide(Parts run, const std::vector<int64_t>& to, size_t first, size_t last,
            std::vector<Parts>& out) {
  const Parts all = run;
  size_t at = 0;
  bool fits = true;
  for (size_t d = first; d < last && fits; ++d) {
    const size_t end = group_end(run, at);
    if (to[d] == 1 && is_unit_group(run, at, end)) {
      out[d].assign(run.begin() + static_cast<int64_t>(at),
                    run.begin() + static_cast<int64_t>(end));
      at = end;
    } else {
      fits = take(run, at, to[d], out[d]);
    }
  }
  if (fits) {
    out[last - 1].insert(out[last - 1].end(), run.begin() + static_cast<int64_t>(at), run.end());
    return;
  }
  for (size_t d = first; d < last; ++d) out[d].clear();
  size_t major = first;
  while (major + 1 < last && to[major] == 1) ++major;
  for (const std::string& axis : axes_of(all)) out[major].push_back(axis_part(axis));
}

// A local index that replaced an axis remembers the axes that preceded that axis. Those axes return
// to the place before the index, from dimensions of size 1 and from after the index.
void bring_home(std::vector<Parts>& dims) {
  for (size_t d = 0; d < dims.size(); ++d) {
    for (size_t i = 0; i < dims[d].size(); ++i) {
      const AxisNames home = dims[d][i].home;
      for (const std::string& axis : home) {
        for (size_t from = 0; from < dims.size(); ++from) {
          Parts& parts = dims[from];
          const auto found = std::find_if(parts.begin(), parts.end(),
                                          [&](const Part& p) { return p.axis == axis; });
          const auto place = static_cast<size_t>(found - parts.begin());
          if (found == parts.end() || (from == d && place < i)) continue;
          if (from != d && !is_unit_group(parts, place, group_end(parts, place))) continue;
          parts.erase(found);
          dims[d].insert(dims[d].begin() + static_cast<int64_t>(i), axis_part(axis));
          ++i;
          break;
        }
      }
    }
  }
}

// All dimensions in memory order. The place of a dimension of size 1 in memory means nothing, so
// it follows the dimension before it.
std::vector<size_t> memory_order(const std::vector<int64_t>& sizes,
                                 const std::vector<int64_t>& order) {
  std::vector<size_t> out;
  const auto follow = [&](size_t d) {
    for (; d < sizes.size() && sizes[d] == 1; ++d) out.push_back(d);
  };
  follow(0);
  for (const int64_t d : order) {
    const auto dim = static_cast<size_t>(d);
    if (d < 0 || dim >= sizes.size() || sizes[dim] == 1) continue;
    out.push_back(dim);
    follow(dim + 1);
  }
  return out;
}

}  // namespace

AxisNames axes_of(const Parts& parts) {
  AxisNames out;
  for (const Part& part : parts) {
    if (part.is_axis()) out.push_back(part.axis);
  }
  return out;
}

void set_local(Parts& parts, int64_t size) {
  const bool ends_in_axis = !parts.empty() && parts.back().is_axis();
  const bool same = local_size(parts) == size;
  Parts kept;
  for (Part& part : parts) {
    const bool unit_of_axes = part.size == 1 && !kept.empty() && kept.back().is_axis();
    if (part.is_axis() || unit_of_axes || (same && part.size != 1)) kept.push_back(std::move(part));
  }
  parts = std::move(kept);
  if (!same || (size == 1 && ends_in_axis)) parts.push_back(local_part(size));
}

void gather_axis(Parts& parts, const std::string& axis, int64_t size) {
  const auto found =
      std::find_if(parts.begin(), parts.end(), [&](const Part& p) { return p.axis == axis; });
  if (found == parts.end()) return;
  *found = local_part(size);
  Parts joined;
  for (Part& part : parts) {
    const bool joins = !joined.empty() && !joined.back().is_axis() && !part.is_axis() &&
                       joined.back().home.empty() && part.home.empty();
    if (joins)
      joined.back().size *= part.size;
    else
      joined.push_back(std::move(part));
  }
  parts = std::move(joined);
}

void scatter_axis(Parts& parts, const std::string& axis, int64_t size) {
  const auto major = std::find_if(parts.begin(), parts.end(),
                                  [](const Part& p) { return !p.is_axis() && p.size != 1; });
  if (major == parts.end() || size < 1 || major->size % size != 0)
    return insert_axes(parts, {axis});
  major->size /= size;
  major->home.clear();
  const bool taken = major->size == 1 && std::next(major) != parts.end();
  if (taken)
    *major = axis_part(axis);
  else
    parts.insert(major, axis_part(axis));
}

void replace_axes(Parts& parts, const AxisNames& axes) {
  const bool one_by_one = axes_of(parts).size() == axes.size();
  Parts made;
  auto next = axes.begin();
  for (Part& part : parts) {
    if (!part.is_axis())
      made.push_back(std::move(part));
    else if (one_by_one)
      made.push_back(axis_part(*next++));
    else
      for (; next != axes.end(); ++next) made.push_back(axis_part(*next));
  }
  parts = std::move(made);
}

bool has_gaps(const Parts& parts) {
  const auto block = std::find_if(parts.begin(), parts.end(),
                                  [](const Part& p) { return !p.is_axis() && p.size > 1; });
  return std::any_of(block, parts.end(), [](const Part& p) { return p.is_axis(); });
}

std::string text_of(const Parts& parts) {
  std::vector<std::string> words;
  for (const Part& part : parts)
    words.push_back(part.is_axis() ? part.axis : fmt::format("{}", part.size));
  return fmt::format("{{{}}}", fmt::join(words, ", "));
}

void insert_axes(Parts& parts, const AxisNames& axes) {
  Parts made;
  for (const std::string& axis : axes) made.push_back(axis_part(axis));
  insert_parts(parts, made);
}

// The place is after local indices of size 1 and the axes before them.
void insert_parts(Parts& parts, const Parts& more) {
  const auto place = std::find_if(parts.begin(), parts.end(),
                                  [](const Part& p) { return !p.is_axis() && p.size != 1; });
  parts.insert(place, more.begin(), more.end());
}

std::vector<Parts> axis_groups(const Parts& parts) {
  std::vector<Parts> out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].is_axis()) continue;
    const size_t end = group_end(parts, i);
    out.push_back({parts[i]});
    if (is_unit_group(parts, i, end)) out.back().push_back(local_part(1));
  }
  return out;
}

void insert_in_order(Parts& parts, const Parts& group, const Parts& order) {
  const auto position = [](const Parts& in, const std::string& axis) {
    return static_cast<size_t>(
        std::find_if(in.begin(), in.end(), [&](const Part& p) { return p.axis == axis; }) -
        in.begin());
  };
  const size_t own = position(order, group.front().axis);
  std::optional<size_t> place;
  for (size_t i = own; i-- > 0 && !place;) {
    const size_t before = order[i].is_axis() ? position(parts, order[i].axis) : parts.size();
    if (before == parts.size()) continue;
    const size_t end = group_end(parts, before);
    place = is_unit_group(parts, before, end) && !parts[end - 1].is_axis() ? end : before + 1;
  }
  for (size_t i = own + 1; i < order.size() && !place; ++i) {
    const size_t after = order[i].is_axis() ? position(parts, order[i].axis) : parts.size();
    if (after < parts.size()) place = after;
  }
  if (!place) return insert_parts(parts, group);
  parts.insert(parts.begin() + static_cast<int64_t>(*place), group.begin(), group.end());
}

int sureness(const Parts& parts, const std::string& axis) {
  size_t at = 0;
  while (at < parts.size() && parts[at].axis != axis) ++at;
  if (!is_unit_group(parts, at, group_end(parts, at))) return 2;
  return local_size(parts) == 1 ? 1 : 0;
}

AxisNames remove_axes(std::vector<Parts>& dims, const AxisNames& axes) {
  AxisNames before;
  bool found = false;
  for (Parts& parts : dims) {
    AxisNames lead;
    for (const Part& part : parts) {
      if (!part.is_axis()) continue;
      if (contains(axes, part.axis)) {
        if (!found) before = lead;
        found = true;
      } else {
        lead.push_back(part.axis);
      }
    }
    const int64_t size = local_size(parts);
    std::erase_if(parts, [&](const Part& p) { return contains(axes, p.axis); });
    if (size == 1 && axes_of(parts).empty()) parts.clear();
  }
  return before;
}

void carry_over(std::vector<Parts>& dims) {
  for (size_t d = 0; d < dims.size(); ++d) {
    Parts& parts = dims[d];
    size_t end = parts.size();
    while (end > 0 && parts[end - 1].is_axis()) --end;
    if (end == parts.size()) continue;
    if (d + 1 == dims.size() || end == 0) {
      parts.push_back(local_part(1));
      continue;
    }
    dims[d + 1].insert(dims[d + 1].begin(), parts.begin() + static_cast<int64_t>(end), parts.end());
    parts.resize(end);
  }
}

namespace {

int64_t product_before(const std::vector<int64_t>& sizes, size_t d) {
  int64_t out = 1;
  for (size_t i = 0; i < d; ++i) out *= sizes[i];
  return out;
}

std::vector<int64_t> without(std::vector<int64_t> sizes, size_t d) {
  sizes.erase(sizes.begin() + static_cast<int64_t>(d));
  return sizes;
}

// The only cut dimension of size 1, and the only dimension of size 1 in the result, if different
// numbers of elements precede them.
std::optional<std::pair<size_t, size_t>> moved_single(const std::vector<Parts>& dims,
                                                      const std::vector<int64_t>& from,
                                                      const std::vector<int64_t>& to) {
  if (std::count(to.begin(), to.end(), 1) != 1) return std::nullopt;
  const auto target = static_cast<size_t>(std::find(to.begin(), to.end(), 1) - to.begin());
  std::optional<size_t> source;
  for (size_t d = 0; d < from.size(); ++d) {
    if (from[d] != 1 || axes_of(dims[d]).empty()) continue;
    if (source) return std::nullopt;
    source = d;
  }
  if (!source || product_before(from, *source) == product_before(to, target)) return std::nullopt;
  return std::pair(*source, target);
}

}  // namespace

std::optional<size_t> only_changed(const std::vector<int64_t>& from,
                                   const std::vector<int64_t>& to) {
  std::optional<size_t> out;
  for (size_t d = 0; d < from.size() && d < to.size(); ++d) {
    if (from[d] == to[d]) continue;
    if (out) return std::nullopt;
    out = d;
  }
  return out;
}

std::optional<size_t> same_place(size_t d, const std::vector<int64_t>& from,
                                 const std::vector<int64_t>& to) {
  if (from == to) return d;
  std::optional<size_t> out;
  for (size_t i = 0; i < to.size() && d < from.size(); ++i) {
    if (product_before(to, i) == product_before(from, d) && to[i] == from[d]) out = i;
  }
  return out;
}

std::vector<Parts> regrouped(std::vector<Parts> dims, const std::vector<int64_t>& from,
                             const std::vector<int64_t>& to) {
  std::vector<Parts> out(to.size());
  dims.resize(from.size());
  // A dimension with one element on each device may go anywhere without moving an element.
  if (const auto moved = moved_single(dims, from, to)) {
    const auto [source, target] = *moved;
    Parts single = std::move(dims[source]);
    dims.erase(dims.begin() + static_cast<int64_t>(source));
    out = regrouped(std::move(dims), without(from, source), without(to, target));
    out.insert(out.begin() + static_cast<int64_t>(target), std::move(single));
    return out;
  }
  size_t i = 0;
  size_t j = 0;
  while (i < from.size() && j < to.size()) {
    const size_t first_i = i;
    const size_t first_j = j;
    int64_t a = from[i++];
    int64_t b = to[j++];
    while (a != b && (a < b ? i < from.size() : j < to.size())) {
      if (a < b)
        a *= from[i++];
      else
        b *= to[j++];
    }
    while (i < from.size() && from[i] == 1) ++i;
    while (j < to.size() && to[j] == 1) ++j;
    Parts run;
    for (size_t d = first_i; d < i; ++d)
      run.insert(run.end(), std::make_move_iterator(dims[d].begin()),
                 std::make_move_iterator(dims[d].end()));
    divide(std::move(run), to, first_j, j, out);
  }
  bring_home(out);
  return out;
}

std::vector<Parts> regrouped_in_memory(std::vector<Parts> dims, const std::vector<int64_t>& from,
                                       const std::vector<int64_t>& to,
                                       const std::vector<int64_t>& from_order,
                                       const std::vector<int64_t>& to_order) {
  const auto given = memory_order(from, from_order);
  const auto made = memory_order(to, to_order);
  if (given.size() != from.size() || made.size() != to.size()) return regrouped(dims, from, to);
  dims.resize(from.size());
  std::vector<Parts> rows;
  std::vector<int64_t> row_sizes;
  for (const size_t d : given) {
    rows.push_back(std::move(dims[d]));
    row_sizes.push_back(from[d]);
  }
  std::vector<int64_t> out_sizes;
  for (const size_t d : made) out_sizes.push_back(to[d]);
  auto divided = regrouped(std::move(rows), row_sizes, out_sizes);
  std::vector<Parts> out(to.size());
  for (size_t i = 0; i < made.size(); ++i) out[made[i]] = std::move(divided[i]);
  return out;
}

void exchange(std::vector<Parts>& dims, size_t d, const AxisNames& axes, int64_t members) {
  Part block = local_part(members);
  block.home = remove_axes(dims, axes);
  Parts& parts = dims[d];
  const AxisNames all = axes_of(parts);
  const int64_t size = local_size(parts);
  Parts taken;
  size_t at = 0;
  const bool whole = members > 0 && size % members == 0 && take(parts, at, members, taken);
  const Parts rest = whole ? Parts(parts.begin() + static_cast<int64_t>(at), parts.end()) : Parts();
  AxisNames lead = whole ? axes_of(taken) : all;
  lead.insert(lead.end(), axes.begin(), axes.end());
  parts = {block};
  for (const std::string& axis : lead) parts.push_back(axis_part(axis));
  parts.insert(parts.end(), rest.begin(), rest.end());
  if (!whole) set_local(parts, size);
}

void join_exchanged(std::vector<Parts>& dims, size_t d, int64_t from, int64_t pieces,
                    const AxisNames& axes, const AxisNames& home, std::optional<size_t> cut_dim) {
  Part block = local_part(pieces);
  block.home = home;
  if (cut_dim && *cut_dim < dims.size()) {
    Parts& cut = dims[*cut_dim];
    insert_axes(cut, axes);
    if (first_local(cut) == cut.end()) cut.push_back(local_part(1));
    dims[d].insert(dims[d].begin(), block);
    return;
  }
  Parts lead;
  std::copy_if(dims[d].begin(), dims[d].end(), std::back_inserter(lead),
               [](const Part& p) { return p.is_axis(); });
  const bool next = from == 1 && d + 1 < dims.size();
  Parts cut = next ? dims[d + 1] : Parts{local_part(from)};
  cut.insert(cut.begin(), lead.begin(), lead.end());
  insert_axes(cut, axes);
  if (first_local(cut) == cut.end()) cut.push_back(local_part(1));
  dims[d] = {block};
  if (next)
    dims[d + 1] = std::move(cut);
  else
    dims[d].insert(dims[d].end(), cut.begin(), cut.end());
}

}  // namespace hostir::importer
