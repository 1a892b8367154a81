// Collectives, device numbers and slices that move from device to device, on leading dimensions.

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "hostir/import/device/device_ops.h"
#include "hostir/import/emit/reducer.h"
#include "hostir/import/mapped/mapped_ops.h"
#include "hostir/import/ops/indexing_parts.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

AxisPositions with_axes(AxisPositions axes, const AxisPositions& more) {
  axes.insert(axes.end(), more.begin(), more.end());
  std::sort(axes.begin(), axes.end());
  axes.erase(std::unique(axes.begin(), axes.end()), axes.end());
  return axes;
}

AxisPositions less_axes(const AxisPositions& axes, const AxisPositions& less) {
  AxisPositions out;
  for (const size_t axis : axes) {
    if (!contains(less, axis)) out.push_back(axis);
  }
  return out;
}

int64_t place_of(const AxisPositions& axes, size_t axis) {
  return std::find(axes.begin(), axes.end(), axis) - axes.begin();
}

// Each device's blocks of `dim` along `axes` become dimensions: the leading ones of these axes. The
// axes' own leading dimensions, if any, are joined to `into`.
Expected<Known> exchanged(const Mapping& map, const OpSite& s, const Known& x,
                          const AxisPositions& axes, size_t dim, std::optional<size_t> into) {
  Emitter& e = s.emitter;
  const AxisPositions lead = into ? with_axes(x.lead, axes) : less_axes(x.lead, axes);
  HOSTIR_ASSIGN_OR_RETURN(const Known full, map.lifted(e, x, lead));
  const size_t k = lead.size();
  int64_t members = 1;
  for (const int64_t size : map.sizes(axes)) members *= size;
  if (dim >= x.type.dims.size() || x.type.dims[dim] % members != 0)
    return s.fail("import_c2", "the dimension cannot be cut into the group");
  Dims apart = map.sizes(lead);
  for (size_t d = 0; d < x.type.dims.size(); ++d) {
    if (d == dim) {
      for (const size_t axis : axes) apart.push_back(map.size(axis));
    }
    apart.push_back(d == dim ? x.type.dims[d] / members : x.type.dims[d]);
  }
  const auto block = [&](size_t axis) {
    return static_cast<int64_t>(k + dim) + place_of(axes, axis);
  };
  const AxisPositions out = with_axes(lead, axes);
  Dims order;
  Dims sizes;
  for (const size_t axis : out) {
    order.push_back(contains(axes, axis) ? block(axis) : place_of(lead, axis));
    sizes.push_back(map.size(axis));
  }
  for (size_t d = 0; d < x.type.dims.size(); ++d) {
    int64_t size = d == dim ? x.type.dims[d] / members : x.type.dims[d];
    if (into && d == *into) {
      for (const size_t axis : axes) order.push_back(place_of(lead, axis));
      size *= members;
    }
    order.push_back(static_cast<int64_t>(k + d + (d >= dim ? axes.size() : 0)));
    sizes.push_back(size);
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known cut, e.reshaped(full, apart));
  HOSTIR_ASSIGN_OR_RETURN(const Known moved, e.transposed(cut, order));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.reshaped(moved, sizes));
  ModuleType local = x.type;
  local.dims.assign(sizes.begin() + static_cast<int64_t>(out.size()), sizes.end());
  return map.part(std::move(y), out, local);
}

// Joins the parts along `axes` in `dim`; the result is equal on all devices along these axes.
Expected<Known> gathered_over(const Mapping& map, Emitter& e, const Known& x,
                              const AxisPositions& axes, size_t dim) {
  const AxisPositions lead = with_axes(x.lead, axes);
  const AxisPositions rest = less_axes(lead, axes);
  HOSTIR_ASSIGN_OR_RETURN(const Known full, map.lifted(e, x, lead));
  Dims order;
  for (const size_t axis : rest) order.push_back(place_of(lead, axis));
  Dims sizes = map.sizes(rest);
  ModuleType local = x.type;
  for (size_t d = 0; d < x.type.dims.size(); ++d) {
    for (size_t i = 0; d == dim && i < axes.size(); ++i) {
      order.push_back(place_of(lead, axes[i]));
      local.dims[d] *= map.size(axes[i]);
    }
    order.push_back(static_cast<int64_t>(lead.size() + d));
    sizes.push_back(local.dims[d]);
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known moved, e.transposed(full, order));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.reshaped(moved, sizes));
  return map.part(std::move(y), rest, local);
}

}  // namespace

Expected<Known> reduced_over(const Mapping& map, Emitter& e, ReducerKind kind, const Known& x,
                             const AxisPositions& axes) {
  Dims dims;
  int64_t equal = 1;  // devices with the same value
  for (const size_t axis : axes) {
    if (contains(x.lead, axis))
      dims.push_back(place_of(x.lead, axis));
    else
      equal *= map.size(axis);
  }
  const bool is_bool = x.type.element == "i1";
  Known y = map.whole(x);
  if (is_bool) {
    HOSTIR_ASSIGN_OR_RETURN(y, e.cast(y, "i32"));
    kind = kind == ReducerKind::kAnd || kind == ReducerKind::kMin || kind == ReducerKind::kProd
               ? ReducerKind::kMin
               : ReducerKind::kMax;
  }
  std::sort(dims.begin(), dims.end());
  const OpKind op = kind == ReducerKind::kSum                               ? OpKind::reduce_sum
                    : kind == ReducerKind::kProd                            ? OpKind::reduce_prod
                    : kind == ReducerKind::kMax || kind == ReducerKind::kOr ? OpKind::reduce_max
                                                                            : OpKind::reduce_min;
  HOSTIR_ASSIGN_OR_RETURN(y, e.reduced(op, y, dims));
  if (equal > 1 && kind == ReducerKind::kSum) {
    const Known times = is_float(*y.type.dtype()) ? e.number(static_cast<double>(equal), y.type)
                                                  : e.integer(equal, y.type);
    HOSTIR_ASSIGN_OR_RETURN(y, e.apply(OpKind::mul, {y, times}));
  }
  const Known once = y;
  for (int64_t i = 1; kind == ReducerKind::kProd && i < equal; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(y, e.apply(OpKind::mul, {y, once}));
  }
  if (is_bool) {
    HOSTIR_ASSIGN_OR_RETURN(y, e.compared(y, e.integer(0, y.type), "ne"));
  }
  return map.part(std::move(y), less_axes(x.lead, axes), x.type);
}

Expected<AxisPositions> MappedOps::group_axes(const OpSite& s) const {
  const Mesh& mesh = map_.mesh();
  const Attr* attr = s.op.find("replica_groups");
  AxisPositions all(mesh.axes.size());
  std::iota(all.begin(), all.end(), 0);
  if (attr == nullptr) return all;
  if (const Attr* axes = attr->find("axes")) {
    AxisPositions out;
    for (const Attr& axis : axes->items) {
      const Attr* name = axis.find("name");
      const auto place = name != nullptr ? mesh.axis_index(name->text) : std::nullopt;
      if (!place || axis.find("sub_axis_info") != nullptr)
        return s.fail("import_c8", "a group over a part of an axis in a manual computation");
      out.push_back(*place);
    }
    return out;
  }
  const auto groups = dense_groups(*attr);
  if (groups && groups->empty()) return all;
  if (const auto axes = groups ? axes_of_groups(mesh, *groups) : std::nullopt) return *axes;
  return s.fail("import_c8",
                "groups that no axes of the mesh form, in a manual computation beside other "
                "operations or over some axes only");
}

Expected<void> MappedOps::collective(const OpSite& s) {
  const std::string_view name = s.op.name;
  if (name == "stablehlo.collective_permute") return permuted(s);
  HOSTIR_ASSIGN_OR_RETURN(const AxisPositions axes, group_axes(s));
  const bool reduces = name == "stablehlo.all_reduce" || name == "stablehlo.reduce_scatter";
  const auto kind = reduces ? reducer_of(s.function, s.op) : std::nullopt;
  if (reduces && !kind)
    return s.fail("import_c8", "a reducer other than sum, product, maximum, minimum, and, or");
  const auto dim_of = [&](std::string_view attribute) {
    return static_cast<size_t>(std::max<int64_t>(s.op.integer_or(attribute, 0), 0));
  };
  if (name == "stablehlo.all_to_all" && s.op.find("split_dimension") == nullptr)
    return s.fail("import_c8", "an all_to_all with a tensor per device in a manual computation");
  for (size_t i = 0; i < s.count(); ++i) {
    Known y = s.in(i);
    const size_t rank = y.type.dims.size();
    if (reduces) {
      HOSTIR_ASSIGN_OR_RETURN(y, reduced_over(map_, s.emitter, *kind, y, axes));
    }
    if (name == "stablehlo.reduce_scatter") {
      HOSTIR_ASSIGN_OR_RETURN(
          y, exchanged(map_, s, y, axes, dim_of("scatter_dimension"), std::nullopt));
    } else if (name == "stablehlo.all_to_all") {
      const size_t into = dim_of("concat_dimension");
      if (into >= rank) return s.fail("import_c2", "no such dimension");
      HOSTIR_ASSIGN_OR_RETURN(y, exchanged(map_, s, y, axes, dim_of("split_dimension"), into));
    } else if (name == "stablehlo.all_gather") {
      if (dim_of("all_gather_dim") >= rank) return s.fail("import_c2", "no such dimension");
      HOSTIR_ASSIGN_OR_RETURN(y, gathered_over(map_, s.emitter, y, axes, dim_of("all_gather_dim")));
    } else if (!reduces) {
      return s.fail("import_c8", "cannot be mapped over the devices of a manual computation");
    }
    HOSTIR_TRY(map_.annotate(s.emitter, y));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return {};
}

// Source and target differ along some axes; along the others, all devices do the same. The leading
// dimensions of the differing axes are joined into one, whose rows move.
Expected<void> MappedOps::permuted(const OpSite& s) {
  const Mesh& mesh = map_.mesh();
  const auto ids = s.op.integers("source_target_pairs");
  std::vector<std::pair<int64_t, int64_t>> pairs;
  AxisPositions axes;
  for (size_t i = 0; i + 1 < ids.size(); i += 2) {
    const auto from = mesh.position_of(ids[i]);
    const auto to = mesh.position_of(ids[i + 1]);
    if (!from || !to) {
      return s.fail("import_c2", fmt::format("device {} of the pair {{{},{}}} is not in the mesh",
                                             from ? ids[i + 1] : ids[i], ids[i], ids[i + 1]));
    }
    pairs.emplace_back(*from, *to);
    for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
      if (mesh.coord(*from, axis) != mesh.coord(*to, axis)) axes = with_axes(axes, {axis});
    }
  }
  const auto row_of = [&](int64_t position) {
    int64_t row = 0;
    for (const size_t axis : axes) row = row * map_.size(axis) + mesh.coord(position, axis);
    return row;
  };
  int64_t rows = 1;
  for (const size_t axis : axes) rows *= map_.size(axis);
  std::map<int64_t, int64_t> source;  // of a row
  for (const auto& [from, to] : pairs) {
    const auto [entry, added] = source.emplace(row_of(to), row_of(from));
    if (entry->second != row_of(from))
      return s.fail("import_c8", "pairs that differ along the other axes of the mesh");
  }
  const bool all = static_cast<int64_t>(pairs.size() * static_cast<size_t>(rows)) ==
                   static_cast<int64_t>(source.size()) * mesh.size();
  if (!all) return s.fail("import_c8", "pairs that differ along the other axes of the mesh");
  for (size_t i = 0; i < s.count(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, moved_rows(s.emitter, s.in(i), axes, rows, source));
    HOSTIR_TRY(map_.annotate(s.emitter, y));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return {};
}

Expected<Known> MappedOps::moved_rows(Emitter& e, const Known& x, const AxisPositions& axes,
                                      int64_t rows, const std::map<int64_t, int64_t>& source) {
  const AxisPositions lead = with_axes(x.lead, axes);
  const AxisPositions others = less_axes(lead, axes);
  HOSTIR_ASSIGN_OR_RETURN(const Known full, map_.lifted(e, x, lead));
  Dims order;
  for (const size_t axis : axes) order.push_back(place_of(lead, axis));
  for (const size_t axis : others) order.push_back(place_of(lead, axis));
  for (size_t d = lead.size(); d < full.type.dims.size(); ++d)
    order.push_back(static_cast<int64_t>(d));
  HOSTIR_ASSIGN_OR_RETURN(const Known front, e.transposed(full, order));
  Dims flat = {rows};
  flat.insert(flat.end(), front.type.dims.begin() + static_cast<int64_t>(axes.size()),
              front.type.dims.end());
  HOSTIR_ASSIGN_OR_RETURN(const Known table, e.reshaped(front, flat));
  std::vector<Known> parts;
  for (int64_t row = 0; row < rows;) {
    const auto from = source.find(row);
    int64_t count = 1;
    while (row + count < rows) {
      const auto next = source.find(row + count);
      const bool follows = from == source.end()
                               ? next == source.end()
                               : next != source.end() && next->second == from->second + count;
      if (!follows) break;
      ++count;
    }
    Dims limit = flat;
    if (from == source.end()) {
      limit[0] = count;
      ModuleType type = tensor_type(table.type.element, limit);
      parts.push_back(e.number(0, type));
    } else {
      Dims start(flat.size(), 0);
      start[0] = from->second;
      limit[0] = from->second + count;
      HOSTIR_ASSIGN_OR_RETURN(Known part, e.sliced(table, start, limit, Dims(flat.size(), 1)));
      parts.push_back(std::move(part));
    }
    row += count;
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known moved, e.concatenated(std::move(parts), 0));
  HOSTIR_ASSIGN_OR_RETURN(const Known apart, e.reshaped(moved, front.type.dims));
  HOSTIR_ASSIGN_OR_RETURN(Known back, e.transposed(apart, inverse(order)));
  return map_.part(std::move(back), lead, x.type);
}

// Stores a known number per device, so that operations on it are folded.
Expected<bool> MappedOps::device_number(const OpSite& s) {
  HOSTIR_TRY(our_type(s.result_type(), s.op.span));
  if (s.op.name == "stablehlo.replica_id") {
    HOSTIR_TRY(s.set(s.emitter.integer(0, s.result_type())));
    return true;
  }
  AxisPositions all(map_.mesh().axes.size());
  std::iota(all.begin(), all.end(), 0);
  Known ids;
  ids.type = tensor_type(s.result_type().element, map_.sizes(all));
  ids.number = Tensor::zeros(*ids.type.dtype(), ids.type.dims);
  for (int64_t p = 0; p < map_.mesh().size(); ++p) ids.number->set_int(p, map_.mesh().rank_at(p));
  HOSTIR_TRY(give(s, std::move(ids), all, 0));
  return true;
}

// A slice whose start differs between devices. Taking one index of one dimension is a masked sum,
// which needs no communication; other forms are a gather or scatter over the leading dimensions.
Expected<void> MappedOps::moving_slice(const OpSite& s, const AxisPositions& lead) {
  Emitter& e = s.emitter;
  const bool updates = s.op.name == "stablehlo.dynamic_update_slice";
  const size_t first = updates ? 2 : 1;
  const Dims& dims = s.in(0).type.dims;
  const Dims sizes = updates ? s.in(1).type.dims : s.result_type().dims;
  const size_t k = lead.size();
  if (sizes.size() != dims.size() || s.count() != dims.size() + first)
    return s.fail("import_c2", "one start per dimension");
  HOSTIR_ASSIGN_OR_RETURN(const Known x, map_.lifted(e, s.in(0), lead));
  Known what;
  if (updates) {
    HOSTIR_ASSIGN_OR_RETURN(what, map_.lifted(e, s.in(1), lead));
  }
  Dims free;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (sizes[d] != dims[d]) free.push_back(static_cast<int64_t>(d));
  }
  if (free.empty()) return give(s, updates ? what : x, lead, 0);
  std::vector<Known> starts;
  for (const int64_t d : free) {
    const auto at = static_cast<size_t>(d);
    HOSTIR_ASSIGN_OR_RETURN(Known start, map_.lifted(e, s.in(first + at), lead));
    HOSTIR_ASSIGN_OR_RETURN(start, e.apply(OpKind::maximum, {start, e.integer(0, start.type)}));
    HOSTIR_ASSIGN_OR_RETURN(
        start, e.apply(OpKind::minimum, {start, e.integer(dims[at] - sizes[at], start.type)}));
    starts.push_back(std::move(start));
  }
  Dims places(k);
  std::iota(places.begin(), places.end(), 0);
  if (free.size() == 1 && sizes[static_cast<size_t>(free[0])] == 1) {
    const int64_t along = static_cast<int64_t>(k) + free[0];
    ModuleType numbers = tensor_type(starts[0].type.element, x.type.dims);
    Attributes attributes;
    attributes.set("dim", along);
    HOSTIR_ASSIGN_OR_RETURN(const Known row,
                            e.apply(OpKind::iota, {}, std::move(attributes), &numbers));
    HOSTIR_ASSIGN_OR_RETURN(const Known start, e.broadcast(starts[0], places, x.type.dims));
    HOSTIR_ASSIGN_OR_RETURN(const Known here, e.compared(row, start, "eq"));
    if (updates) {
      Dims narrow = x.type.dims;
      narrow.erase(narrow.begin() + along);
      HOSTIR_ASSIGN_OR_RETURN(const Known one, e.reshaped(what, narrow));
      Dims others;
      for (size_t d = 0; d < x.type.dims.size(); ++d) {
        if (static_cast<int64_t>(d) != along) others.push_back(static_cast<int64_t>(d));
      }
      HOSTIR_ASSIGN_OR_RETURN(const Known wide, e.broadcast(one, others, x.type.dims));
      HOSTIR_ASSIGN_OR_RETURN(Known y, e.apply(OpKind::select, {here, wide, x}));
      return give(s, std::move(y), lead, 0);
    }
    const bool is_bool = x.type.element == "i1";
    Known values = x;
    if (is_bool) {
      HOSTIR_ASSIGN_OR_RETURN(values, e.cast(x, "i32"));
    }
    HOSTIR_ASSIGN_OR_RETURN(const Known only,
                            e.apply(OpKind::select, {here, values, e.integer(0, values.type)}));
    HOSTIR_ASSIGN_OR_RETURN(Known y, e.reduced(OpKind::reduce_sum, only, {along}));
    if (is_bool) {
      HOSTIR_ASSIGN_OR_RETURN(y, e.compared(y, e.integer(0, y.type), "ne"));
    }
    HOSTIR_ASSIGN_OR_RETURN(y, e.reshaped(y, [&] {
      Dims to = x.type.dims;
      to[static_cast<size_t>(along)] = 1;
      return to;
    }()));
    return give(s, std::move(y), lead, 0);
  }
  Dims one = map_.sizes(lead);
  one.push_back(1);
  std::vector<Known> columns;
  for (const Known& start : starts) {
    HOSTIR_ASSIGN_OR_RETURN(Known column, e.reshaped(start, one));
    columns.push_back(std::move(column));
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known at, e.concatenated(std::move(columns), k));
  IndexingNumbers n;
  n.operand_batch = places;
  n.index_batch = places;
  n.vector_dim = static_cast<int64_t>(k);
  n.sizes.assign(k, 1);
  for (size_t d = 0; d < dims.size(); ++d) {
    n.window.push_back(static_cast<int64_t>(k + d));
    n.sizes.push_back(sizes[d]);
  }
  for (const int64_t d : free) n.map.push_back(static_cast<int64_t>(k) + d);
  auto y = updates ? scattered(e, x, at, what, n, "set") : gathered(e, x, at, n);
  HOSTIR_TRY(y);
  return give(s, std::move(*y), lead, 0);
}

}  // namespace hostir::importer
