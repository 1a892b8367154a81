#include "hostir/import/mapped/manual_map.h"

#include <algorithm>

#include "hostir/import/mapped/mapped_ops.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

using Dims = std::vector<int64_t>;

// The axes of `dim` that are manual, major to minor. They come before all others.
std::optional<AxisPositions> manual_axes_of(const Mesh& mesh, const DimSharding& dim,
                                            const AxisPositions& manual) {
  AxisPositions out;
  for (const AxisRef& ref : dim.axes) {
    const auto axis = mesh.axis_index(ref.name);
    if (!axis) return std::nullopt;
    if (!contains(manual, *axis)) continue;
    if (!ref.whole()) return std::nullopt;
    out.push_back(*axis);
  }
  return out;
}

// The manual axes over which a value is still to be reduced, ascending.
std::optional<AxisPositions> unreduced_axes_of(const Mesh& mesh, const Sharding& sharding,
                                               const AxisPositions& manual) {
  DimSharding as_dim;
  as_dim.axes = sharding.unreduced;
  auto axes = manual_axes_of(mesh, as_dim, manual);
  if (axes) std::sort(axes->begin(), axes->end());
  return axes;
}

// Parts whose sum over `axes` is x: the first device's is x, the others are zero. Any parts with
// this sum are right. For a maximum or minimum, equal parts are.
Expected<Known> split_into_terms(const Mapping& map, Emitter& e, Known x,
                                 const AxisPositions& axes) {
  for (const size_t axis : axes) {
    AxisPositions lead = x.lead;
    const auto place = std::lower_bound(lead.begin(), lead.end(), axis) - lead.begin();
    lead.insert(lead.begin() + place, axis);
    Known first = map.whole(x);
    std::vector<int64_t> dims = first.type.dims;
    dims.insert(dims.begin() + place, 1);
    HOSTIR_ASSIGN_OR_RETURN(first, e.reshaped(first, dims));
    ModuleType rest = first.type;
    rest.dims[static_cast<size_t>(place)] = map.size(axis) - 1;
    const auto dtype = rest.dtype();
    Known zeros = dtype && is_float(*dtype) ? e.number(0, rest) : e.integer(0, rest);
    std::vector<Known> terms = {std::move(first), std::move(zeros)};
    HOSTIR_ASSIGN_OR_RETURN(Known all,
                            e.concatenated(std::move(terms), static_cast<size_t>(place)));
    x = map.part(std::move(all), std::move(lead), x.type);
  }
  return x;
}

// The part of each device: every manual axis leaves its dimension and becomes a leading one.
Expected<Known> entering(const Mapping& map, const OpSite& s, const Known& x, const Sharding& in,
                         const AxisPositions& manual, const ModuleType& local) {
  Emitter& e = s.emitter;
  if (in.dims.size() != x.type.dims.size())
    return s.fail("import_c2", "a sharding does not fit its operand");
  auto terms = unreduced_axes_of(map.mesh(), in, manual);
  if (!terms) return s.fail("import_c8", "a part of an axis is manual");
  if (in.unreduced_kind != Reduction::kSum) terms->clear();
  AxisPositions found;
  Dims apart;  // the axes' dimensions, each before what remains of its dimension
  Dims order;  // places of the leading dimensions in `apart`, then of the others
  Dims rest;
  const size_t lead = x.lead.size();
  std::vector<std::pair<size_t, int64_t>> places;
  for (size_t i = 0; i < lead; ++i) {
    places.emplace_back(x.lead[i], static_cast<int64_t>(apart.size()));
    apart.push_back(map.size(x.lead[i]));
  }
  for (size_t d = 0; d < in.dims.size(); ++d) {
    const auto axes = manual_axes_of(map.mesh(), in.dims[d], manual);
    if (!axes) return s.fail("import_c8", "a part of an axis is manual");
    int64_t left = x.type.dims[d];
    for (const size_t axis : *axes) {
      if (left % map.size(axis) != 0) return s.fail("import_c2", "an operand cannot be cut evenly");
      left /= map.size(axis);
      places.emplace_back(axis, static_cast<int64_t>(apart.size()));
      apart.push_back(map.size(axis));
      found.push_back(axis);
    }
    rest.push_back(static_cast<int64_t>(apart.size()));
    apart.push_back(left);
    if (d >= local.dims.size() || local.dims[d] != left)
      return s.fail("import_c2", "an operand does not fit its local type");
  }
  if (found.empty()) return split_into_terms(map, e, x, *terms);
  std::sort(places.begin(), places.end());
  Known out;
  for (const auto& [axis, place] : places) {
    out.lead.push_back(axis);
    order.push_back(place);
  }
  order.insert(order.end(), rest.begin(), rest.end());
  HOSTIR_ASSIGN_OR_RETURN(const Known cut, e.reshaped(map.whole(x), apart));
  HOSTIR_ASSIGN_OR_RETURN(const Known moved, e.transposed(cut, order));
  return split_into_terms(map, e, map.part(moved, std::move(out.lead), local), *terms);
}

// The global tensor of a result: the leading dimensions return to the dimensions they cut.
Expected<Known> leaving(const Mapping& map, const OpSite& s, Known x, const Sharding& out,
                        const AxisPositions& manual) {
  Emitter& e = s.emitter;
  if (out.dims.size() != x.type.dims.size())
    return s.fail("import_c2", "a sharding does not fit its result");
  const auto terms = unreduced_axes_of(map.mesh(), out, manual);
  if (!terms) return s.fail("import_c8", "a part of an axis is manual");
  if (!terms->empty()) {
    const ReducerKind kind = out.unreduced_kind == Reduction::kSum   ? ReducerKind::kSum
                             : out.unreduced_kind == Reduction::kMax ? ReducerKind::kMax
                                                                     : ReducerKind::kMin;
    HOSTIR_ASSIGN_OR_RETURN(x, reduced_over(map, e, kind, x, *terms));
  }
  std::vector<AxisPositions> cuts;
  AxisPositions wanted = x.lead;
  for (const DimSharding& dim : out.dims) {
    auto axes = manual_axes_of(map.mesh(), dim, manual);
    if (!axes) return s.fail("import_c8", "a part of an axis is manual");
    wanted.insert(wanted.end(), axes->begin(), axes->end());
    cuts.push_back(std::move(*axes));
  }
  std::sort(wanted.begin(), wanted.end());
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  // Devices along an axis that cuts no dimension hold equal values: the first one's are taken.
  AxisPositions kept;
  for (const size_t axis : wanted) {
    const bool cut = std::any_of(cuts.begin(), cuts.end(),
                                 [&](const AxisPositions& axes) { return contains(axes, axis); });
    const bool ours = contains(manual, axis);
    if (ours && !cut) {
      HOSTIR_ASSIGN_OR_RETURN(x, map.first_along(e, x, axis));
    } else {
      kept.push_back(axis);
    }
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known full, map.lifted(e, x, kept));
  Dims order;
  Dims sizes;
  AxisPositions outer;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (contains(manual, kept[i])) continue;
    outer.push_back(kept[i]);
    order.push_back(static_cast<int64_t>(i));
    sizes.push_back(map.size(kept[i]));
  }
  ModuleType type = x.type;
  for (size_t d = 0; d < cuts.size(); ++d) {
    for (const size_t axis : cuts[d]) {
      order.push_back(std::find(kept.begin(), kept.end(), axis) - kept.begin());
      type.dims[d] *= map.size(axis);
    }
    order.push_back(static_cast<int64_t>(kept.size() + d));
    sizes.push_back(type.dims[d]);
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known moved, e.transposed(full, order));
  HOSTIR_ASSIGN_OR_RETURN(const Known joined, e.reshaped(moved, sizes));
  return map.part(joined, std::move(outer), type);
}

}  // namespace

Expected<void> emit_manual(const OpSite& s) {
  const Attr* in = s.op.find("in_shardings");
  const Attr* out = s.op.find("out_shardings");
  const Attr* axes = s.op.find("manual_axes");
  if (s.op.regions.size() != 1 || in == nullptr || out == nullptr || axes == nullptr ||
      in->shardings.size() != s.count() || out->shardings.size() != s.op.results.size() ||
      s.op.regions[0].arguments.size() != s.count()) {
    return s.fail("import_c2", "the number of shardings does not fit");
  }
  const std::string name = !out->shardings.empty()  ? out->shardings[0].mesh
                           : !in->shardings.empty() ? in->shardings[0].mesh
                                                    : "";
  const Mesh* mesh = s.emitter.module().find_mesh(name);
  if (mesh == nullptr) return s.fail("import_c2", "there is no mesh @" + name);
  AxisPositions manual;
  for (const Attr& item : axes->items) {
    const auto axis = mesh->axis_index(item.text);
    if (!axis) return s.fail("import_c2", "the mesh has no axis \"" + item.text + "\"");
    manual.push_back(*axis);
  }
  const Mesh* ours = s.emitter.mesh_of(Sharding::replicated(name, 0));
  const Mapping map(*mesh, ours != nullptr ? ours->name : "");
  const ModuleBlock& body = s.op.regions[0];
  for (size_t i = 0; i < s.count(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known part, entering(map, s, s.in(i), in->shardings[i], manual,
                                                 s.function.type(body.arguments[i])));
    HOSTIR_TRY(map.annotate(s.emitter, part));
    s.frame[body.arguments[i]] = std::move(part);
  }
  MappedOps mapped(map);
  DeviceHook before =
      s.emitter.set_device_hook([&](const OpSite& site) { return mapped.take(site); });
  auto results = s.emitter.block(s.function, body, s.frame);
  s.emitter.set_device_hook(std::move(before));
  HOSTIR_TRY(results);
  if (results->size() != s.op.results.size())
    return s.fail("import_c2", "gives a different number of results");
  for (size_t i = 0; i < results->size(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known whole,
                            leaving(map, s, std::move((*results)[i]), out->shardings[i], manual));
    HOSTIR_TRY(s.set(std::move(whole), i));
  }
  return {};
}

}  // namespace hostir::importer
