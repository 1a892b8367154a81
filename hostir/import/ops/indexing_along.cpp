#include "hostir/import/ops/indexing_along.h"

#include <algorithm>

#include "hostir/ops/record.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

bool addresses_one_dim(const Known& x, const Known& indices, const IndexingNumbers& n) {
  if (n.map.size() != 1) return false;
  const size_t rank = x.type.dims.size();
  if (n.operand_batch.empty() &&
      (rank != 1 || index_batch_dims(indices, n).size() != 1 || n.dropped != n.map))
    return false;
  for (size_t d = 0; d < rank; ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (dim == n.map[0] || contains(n.operand_batch, dim)) continue;
    if (n.sizes[d] != x.type.dims[d] || contains(n.dropped, dim)) return false;
  }
  return true;
}

// The indices of all places, in the shape `joined`.
Expected<Known> places(Emitter& e, const Known& indices, const IndexingNumbers& n,
                       const AlongForm& form, std::optional<int64_t> last) {
  HOSTIR_ASSIGN_OR_RETURN(Known at, component(e, indices, n, 0));
  HOSTIR_ASSIGN_OR_RETURN(at, e.transposed(at, form.index_order));
  if (last) {
    HOSTIR_ASSIGN_OR_RETURN(at, clamped(e, at, 0, *last));
  }
  const int64_t count = form.joined[form.dim];
  Dims shape = form.lead;
  shape.push_back(count / std::max<int64_t>(form.length, 1));
  if (form.length > 1) {
    HOSTIR_ASSIGN_OR_RETURN(at, e.cast(at, index_element(indices)));
    Dims mapping = counting(shape.size());
    Dims windows = shape;
    windows.push_back(form.length);
    for (const int64_t size : form.tail) {
      mapping.push_back(static_cast<int64_t>(windows.size()));
      shape.push_back(size);
      windows.push_back(size);
    }
    HOSTIR_ASSIGN_OR_RETURN(at, e.reshaped(at, shape));
    HOSTIR_ASSIGN_OR_RETURN(at, e.broadcast(at, mapping, windows));
    HOSTIR_ASSIGN_OR_RETURN(const Known step,
                            iota_along(e, at.type.element, windows, form.lead.size() + 1));
    HOSTIR_ASSIGN_OR_RETURN(at, e.apply(OpKind::add, {at, step}));
    shape[form.lead.size()] = count;
  } else {
    shape.insert(shape.end(), form.tail.begin(), form.tail.end());
  }
  HOSTIR_ASSIGN_OR_RETURN(at, e.reshaped(at, shape));
  Dims mapping;
  for (size_t d = 0; d < form.joined.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (d == form.dim || contains(n.operand_batch, dim)) mapping.push_back(dim);
  }
  return e.broadcast(at, mapping, form.joined);
}

}  // namespace

std::optional<AlongForm> along_form(const Known& x, const Known& indices,
                                    const IndexingNumbers& n) {
  if (!addresses_one_dim(x, indices, n)) return std::nullopt;
  const Dims batch = index_batch_dims(indices, n);
  Dims used;
  for (const int64_t d : n.index_batch)
    used.push_back(std::find(batch.begin(), batch.end(), d) - batch.begin());
  const Dims unpaired = rest_of(batch.size(), used);
  const Dims kept = kept_dims(n);
  AlongForm out;
  out.dim = static_cast<size_t>(n.map[0]);
  out.length = n.sizes[out.dim];
  Dims sources;  // of the dimensions of `apart` in [batch..., kept dims in operand order]
  const auto keep = [&](int64_t dim) {
    const auto place = std::find(kept.begin(), kept.end(), dim) - kept.begin();
    sources.push_back(static_cast<int64_t>(batch.size()) + place);
    out.apart.push_back(n.sizes[static_cast<size_t>(dim)]);
  };
  for (size_t d = 0; d < x.type.dims.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (d == out.dim) {
      int64_t count = out.length;
      for (const int64_t place : unpaired) {
        const int64_t size =
            indices.type.dims[static_cast<size_t>(batch[static_cast<size_t>(place)])];
        out.index_order.push_back(place);
        sources.push_back(place);
        out.apart.push_back(size);
        count *= size;
      }
      if (contains(kept, dim)) keep(dim);
      out.joined.push_back(count);
      continue;
    }
    out.joined.push_back(x.type.dims[d]);
    const auto pair = std::find(n.operand_batch.begin(), n.operand_batch.end(), dim);
    if (pair == n.operand_batch.end()) {
      keep(dim);
      continue;
    }
    const int64_t place = used[static_cast<size_t>(pair - n.operand_batch.begin())];
    (d < out.dim ? out.lead : out.tail).push_back(x.type.dims[d]);
    out.index_order.push_back(place);
    sources.push_back(place);
    out.apart.push_back(x.type.dims[d]);
  }
  out.to_windows = inverse(sources);
  return out;
}

Expected<Known> taken_along(Emitter& e, const Known& x, const Known& indices,
                            const IndexingNumbers& n, const AlongForm& form) {
  HOSTIR_ASSIGN_OR_RETURN(const Known at,
                          places(e, indices, n, form, x.type.dims[form.dim] - form.length));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.apply(*find_op("take_along"), {x, at}, dim_only(n.map[0])));
  HOSTIR_ASSIGN_OR_RETURN(y, e.reshaped(y, form.apart));
  HOSTIR_ASSIGN_OR_RETURN(y, e.transposed(y, form.to_windows));
  return e.transposed(y, windows_permutation(n, form.apart.size()));
}

Expected<Known> put_along(Emitter& e, const Known& base, const Known& indices, const Known& updates,
                          const IndexingNumbers& n, const AlongForm& form,
                          const std::string& mode) {
  HOSTIR_ASSIGN_OR_RETURN(
      Known what, e.transposed(updates, inverse(windows_permutation(n, form.apart.size()))));
  HOSTIR_ASSIGN_OR_RETURN(what, e.transposed(what, inverse(form.to_windows)));
  HOSTIR_ASSIGN_OR_RETURN(what, e.reshaped(what, form.joined));
  HOSTIR_ASSIGN_OR_RETURN(const Known at, places(e, indices, n, form, std::nullopt));
  return put_into(e, *find_op("put_along"), what, at, base, n.map[0], mode);
}

}  // namespace hostir::importer
