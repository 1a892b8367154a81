#include "hostir/import/ops/indexing_parts.h"

#include <algorithm>
#include <numeric>

#include "hostir/support/lists.h"

namespace hostir::importer {

Dims rest_of(size_t rank, const Dims& without) {
  Dims out;
  for (size_t d = 0; d < rank; ++d) {
    if (!contains(without, static_cast<int64_t>(d))) out.push_back(static_cast<int64_t>(d));
  }
  return out;
}

Dims picked(const Dims& from, const Dims& places) {
  Dims out;
  for (const int64_t p : places) out.push_back(from[static_cast<size_t>(p)]);
  return out;
}

int64_t volume(const Dims& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1},
                         [](int64_t a, int64_t b) { return a * b; });
}

Dims counting(size_t count) {
  Dims out(count);
  std::iota(out.begin(), out.end(), 0);
  return out;
}

Dims index_batch_dims(const Known& indices, const IndexingNumbers& n) {
  return rest_of(indices.type.dims.size(), {n.vector_dim});
}

Dims windows_permutation(const IndexingNumbers& n, size_t rank) {
  const Dims batch_places = rest_of(rank, n.window);
  Dims sorted = n.window;
  std::sort(sorted.begin(), sorted.end());
  Dims out(rank);
  for (size_t i = 0; i < batch_places.size(); ++i)
    out[static_cast<size_t>(batch_places[i])] = static_cast<int64_t>(i);
  for (size_t i = 0; i < sorted.size(); ++i) {
    out[static_cast<size_t>(sorted[i])] = static_cast<int64_t>(batch_places.size() + i);
  }
  return out;
}

Dims inverse(const Dims& permutation) {
  Dims out(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i)
    out[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return out;
}

Dims kept_dims(const IndexingNumbers& n) {
  Dims left_out = n.dropped;
  left_out.insert(left_out.end(), n.operand_batch.begin(), n.operand_batch.end());
  return rest_of(n.sizes.size(), left_out);
}

Expected<Known> component(Emitter& e, const Known& indices, const IndexingNumbers& n, size_t c) {
  const auto at = static_cast<size_t>(n.vector_dim);
  if (at >= indices.type.dims.size()) return indices;
  Dims start(indices.type.dims.size(), 0);
  Dims limit = indices.type.dims;
  start[at] = static_cast<int64_t>(c);
  limit[at] = start[at] + 1;
  HOSTIR_ASSIGN_OR_RETURN(const Known one, e.sliced(indices, start, limit, Dims(start.size(), 1)));
  return e.reshaped(one, picked(indices.type.dims, index_batch_dims(indices, n)));
}

Expected<Known> iota_along(Emitter& e, const std::string& element, const Dims& dims, size_t dim) {
  const ModuleType type = tensor_type(element, dims);
  if (volume(dims) == 1) return e.integer(0, type);
  Attributes attributes;
  attributes.set("dim", static_cast<int64_t>(dim));
  return e.apply(OpKind::iota, {}, std::move(attributes), &type);
}

Expected<Known> clamped(Emitter& e, const Known& x, int64_t low, int64_t high) {
  HOSTIR_ASSIGN_OR_RETURN(const Known above, e.apply(OpKind::maximum, {x, e.integer(low, x.type)}));
  return e.apply(OpKind::minimum, {above, e.integer(high, x.type)});
}

std::string index_element(const Known& indices) {
  return indices.type.element == "i64" || indices.type.element == "ui64" ? "i64" : "i32";
}

Attributes dim_only(int64_t dim) {
  Attributes attributes;
  attributes.set("dim", dim);
  return attributes;
}

namespace {

Attributes put_attributes(int64_t dim, const std::string& mode) {
  Attributes attributes = dim_only(dim);
  attributes.set("mode", Keyword{mode});
  return attributes;
}

}  // namespace

Expected<Known> put_into(Emitter& e, OpKind kind, const Known& updates, const Known& indices,
                         const Known& base, int64_t dim, const std::string& mode) {
  if (mode != "add" && mode != "set")
    return combined_into(e, kind == OpKind::put_along, updates, indices, base,
                         static_cast<size_t>(dim), mode);
  Attributes attributes = put_attributes(dim, mode);
  if (base.is_number() && base.splat && base.number->get_double(0) == 0) {
    attributes.set("size", IndexExpr(base.type.dims[static_cast<size_t>(dim)]));
    return e.apply(kind, {updates, indices}, std::move(attributes));
  }
  return e.apply(kind, {updates, indices, base}, std::move(attributes));
}

}  // namespace hostir::importer
