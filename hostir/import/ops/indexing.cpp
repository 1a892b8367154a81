#include "hostir/import/ops/indexing.h"

#include <algorithm>

#include "hostir/import/emit/reducer.h"
#include "hostir/import/ops/indexing_along.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

bool distinct_within(const Dims& dims, size_t rank) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0 || static_cast<size_t>(dims[i]) >= rank) return false;
    if (std::find(dims.begin(), dims.begin() + static_cast<int64_t>(i), dims[i]) !=
        dims.begin() + static_cast<int64_t>(i))
      return false;
  }
  return true;
}

Expected<void> check_numbers(const OpSite& s, const IndexingNumbers& n, size_t windows_rank) {
  const size_t rank = s.in(0).type.dims.size();
  const size_t index_rank = s.in(1).type.dims.size();
  Dims left_out = n.dropped;
  left_out.insert(left_out.end(), n.operand_batch.begin(), n.operand_batch.end());
  Dims addressed = n.map;
  addressed.insert(addressed.end(), n.operand_batch.begin(), n.operand_batch.end());
  const bool vector_fits = n.vector_dim >= 0 && static_cast<size_t>(n.vector_dim) <= index_rank;
  const int64_t components = vector_fits && static_cast<size_t>(n.vector_dim) < index_rank
                                 ? s.in(1).type.dims[static_cast<size_t>(n.vector_dim)]
                                 : 1;
  const size_t batch =
      index_rank - (vector_fits && static_cast<size_t>(n.vector_dim) < index_rank ? 1 : 0);
  bool good = vector_fits && components == static_cast<int64_t>(n.map.size()) &&
              n.sizes.size() == rank && distinct_within(left_out, rank) &&
              distinct_within(addressed, rank) && distinct_within(n.window, windows_rank) &&
              distinct_within(n.index_batch, index_rank) &&
              n.index_batch.size() == n.operand_batch.size() &&
              n.window.size() + left_out.size() == rank && windows_rank == batch + n.window.size();
  for (size_t d = 0; good && d < rank; ++d) {
    good = n.sizes[d] >= 0 && n.sizes[d] <= s.in(0).type.dims[d];
    if (good && contains(left_out, static_cast<int64_t>(d))) good = n.sizes[d] == 1;
  }
  for (size_t i = 0; good && i < n.index_batch.size(); ++i) {
    good = n.index_batch[i] != n.vector_dim &&
           s.in(1).type.dims[static_cast<size_t>(n.index_batch[i])] ==
               s.in(0).type.dims[static_cast<size_t>(n.operand_batch[i])];
  }
  if (!good) return s.fail("import_c2", "its dimension numbers do not match the operands");
  return {};
}

Dims field(const Attr* numbers, std::string_view name) {
  const Attr* attr = numbers != nullptr ? numbers->find(name) : nullptr;
  return attr != nullptr ? attr->integers() : Dims();
}

int64_t vector_dim_of(const Attr* numbers) {
  const Dims found = field(numbers, "index_vector_dim");
  return found.empty() ? 0 : found.front();
}

// Operand dimensions addressed by indices or batches, in increasing order; these are flattened.
Dims addressed_dims(const IndexingNumbers& n) {
  Dims out = n.map;
  out.insert(out.end(), n.operand_batch.begin(), n.operand_batch.end());
  std::sort(out.begin(), out.end());
  return out;
}

// For the general form: linear indices [batch..., window sizes of the addressed dims...] into the
// flattened addressed dimensions. With `drop_outside`, the elements of a window that is not wholly
// in bounds get -1; otherwise starts are clamped.
Expected<Known> linear_indices(Emitter& e, const Known& x, const Known& indices,
                               const IndexingNumbers& n, bool drop_outside) {
  const Dims flat = addressed_dims(n);
  const Dims batch = picked(indices.type.dims, index_batch_dims(indices, n));
  Dims shape = batch;
  for (const int64_t d : flat) shape.push_back(n.sizes[static_cast<size_t>(d)]);
  const std::string element = index_element(indices);
  std::optional<Known> linear;
  std::optional<Known> inside;
  bool masked = flat.size() > 1;  // else take and put ignore indices out of bounds
  for (size_t f = 0; f < flat.size(); ++f) {
    const int64_t d = flat[f];
    const int64_t size = x.type.dims[static_cast<size_t>(d)];
    const int64_t length = n.sizes[static_cast<size_t>(d)];
    Known at;
    const auto mapped = std::find(n.map.begin(), n.map.end(), d);
    if (mapped != n.map.end()) {
      HOSTIR_ASSIGN_OR_RETURN(
          at, component(e, indices, n, static_cast<size_t>(mapped - n.map.begin())));
      HOSTIR_ASSIGN_OR_RETURN(at, e.cast(at, element));
      if (!drop_outside) {
        HOSTIR_ASSIGN_OR_RETURN(at, clamped(e, at, 0, size - length));
      }
      HOSTIR_ASSIGN_OR_RETURN(at, e.broadcast(at, counting(batch.size()), shape));
    } else {
      const auto pair =
          std::find(n.operand_batch.begin(), n.operand_batch.end(), d) - n.operand_batch.begin();
      int64_t along = n.index_batch[static_cast<size_t>(pair)];
      if (n.vector_dim < along) --along;
      HOSTIR_ASSIGN_OR_RETURN(at, iota_along(e, element, shape, static_cast<size_t>(along)));
    }
    masked = masked || length > 1;
    if (drop_outside && mapped != n.map.end()) {
      HOSTIR_ASSIGN_OR_RETURN(const Known low, e.compared(at, e.integer(0, at.type), "ge"));
      HOSTIR_ASSIGN_OR_RETURN(const Known high,
                              e.compared(at, e.integer(size - length, at.type), "le"));
      HOSTIR_ASSIGN_OR_RETURN(Known both, e.apply(OpKind::logical_and, {low, high}));
      if (inside) {
        HOSTIR_ASSIGN_OR_RETURN(both, e.apply(OpKind::logical_and, {*inside, both}));
      }
      inside = both;
    }
    if (length > 1) {
      HOSTIR_ASSIGN_OR_RETURN(const Known step, iota_along(e, element, shape, batch.size() + f));
      HOSTIR_ASSIGN_OR_RETURN(at, e.apply(OpKind::add, {at, step}));
    }
    if (linear) {
      HOSTIR_ASSIGN_OR_RETURN(const Known scaled,
                              e.apply(OpKind::mul, {*linear, e.integer(size, at.type)}));
      HOSTIR_ASSIGN_OR_RETURN(linear, e.apply(OpKind::add, {scaled, at}));
    } else {
      linear = at;
    }
  }
  if (!linear) return e.integer(0, tensor_type(element, shape));
  if (inside && masked)
    return e.apply(OpKind::select, {*inside, *linear, e.integer(-1, linear->type)});
  return *linear;
}

// Rows of a table: one index component, its dimension is dropped, and all others are taken whole.
bool is_rows(const Known& x, const IndexingNumbers& n) {
  if (n.map.size() != 1 || !n.operand_batch.empty() || n.dropped != n.map) return false;
  for (size_t d = 0; d < n.sizes.size(); ++d) {
    if (static_cast<int64_t>(d) != n.map[0] && n.sizes[d] != x.type.dims[d]) return false;
  }
  return true;
}

}  // namespace

Expected<IndexingNumbers> gather_numbers(const OpSite& s) {
  const Attr* numbers = s.op.find("dimension_numbers");
  IndexingNumbers n;
  n.window = field(numbers, "offset_dims");
  n.dropped = field(numbers, "collapsed_slice_dims");
  n.operand_batch = field(numbers, "operand_batching_dims");
  n.index_batch = field(numbers, "start_indices_batching_dims");
  n.map = field(numbers, "start_index_map");
  n.vector_dim = vector_dim_of(numbers);
  n.sizes = s.op.integers("slice_sizes");
  if (s.count() != 2) return s.fail("import_c2", "takes 2 operands, a tensor and indices");
  HOSTIR_TRY(check_numbers(s, n, s.result_type().dims.size()));
  return n;
}

Expected<IndexingNumbers> scatter_numbers(const OpSite& s) {
  const Attr* numbers = s.op.find("scatter_dimension_numbers");
  IndexingNumbers n;
  n.window = field(numbers, "update_window_dims");
  n.dropped = field(numbers, "inserted_window_dims");
  n.operand_batch = field(numbers, "input_batching_dims");
  n.index_batch = field(numbers, "scatter_indices_batching_dims");
  n.map = field(numbers, "scatter_dims_to_operand_dims");
  n.vector_dim = vector_dim_of(numbers);
  const Dims& updates = s.in(2).type.dims;
  n.sizes.assign(s.in(0).type.dims.size(), 1);
  const Dims kept = kept_dims(n);
  Dims sorted = n.window;
  std::sort(sorted.begin(), sorted.end());
  for (size_t i = 0; i < kept.size() && i < sorted.size(); ++i) {
    if (sorted[i] < 0 || static_cast<size_t>(sorted[i]) >= updates.size()) break;
    n.sizes[static_cast<size_t>(kept[i])] = updates[static_cast<size_t>(sorted[i])];
  }
  HOSTIR_TRY(check_numbers(s, n, updates.size()));
  return n;
}

std::optional<std::string> scatter_mode(const OpSite& s) {
  const auto& region = s.op.regions;
  const bool sets = region.size() == 1 && region[0].ops.size() == 1 &&
                    region[0].arguments.size() == 2 &&
                    region[0].ops[0].operands == std::vector<ValueNumber>{region[0].arguments[1]};
  if (sets) return "set";
  const bool subtracts = region.size() == 1 && region[0].ops.size() == 2 &&
                         region[0].arguments.size() == 2 &&
                         region[0].ops[0].name == "stablehlo.subtract" &&
                         region[0].ops[0].operands == region[0].arguments &&
                         region[0].ops[1].operands == region[0].ops[0].results;
  if (subtracts) return "sub";
  const auto kind = reducer_of(s.function, s.op);
  if (!kind || (s.in(0).type.element == "i1")) return std::nullopt;
  if (kind == ReducerKind::kSum) return "add";
  if (kind == ReducerKind::kProd) return "mul";
  if (kind == ReducerKind::kMax) return "max";
  if (kind == ReducerKind::kMin) return "min";
  return std::nullopt;
}

Expected<Known> gathered(Emitter& e, const Known& x, const Known& indices,
                         const IndexingNumbers& n) {
  const size_t batch = index_batch_dims(indices, n).size();
  const size_t rank = batch + n.window.size();
  if (const auto along = along_form(x, indices, n)) return taken_along(e, x, indices, n, *along);
  if (is_rows(x, n)) {
    const auto dim = static_cast<size_t>(n.map[0]);
    HOSTIR_ASSIGN_OR_RETURN(Known at, component(e, indices, n, 0));
    HOSTIR_ASSIGN_OR_RETURN(at, clamped(e, at, 0, x.type.dims[dim] - 1));
    HOSTIR_ASSIGN_OR_RETURN(const Known y, e.apply(*find_op("take"), {x, at}, dim_only(n.map[0])));
    // [before.., batch.., after..] to [batch.., before.., after..], then to the windows' order.
    Dims front;
    for (size_t i = 0; i < batch; ++i) front.push_back(static_cast<int64_t>(dim + i));
    for (size_t i = 0; i < dim; ++i) front.push_back(static_cast<int64_t>(i));
    for (size_t i = dim + batch; i < rank; ++i) front.push_back(static_cast<int64_t>(i));
    return e.transposed(y, picked(front, windows_permutation(n, rank)));
  }
  const Dims flat = addressed_dims(n);
  const Dims others = rest_of(x.type.dims.size(), flat);
  Dims limit = x.type.dims;
  for (const int64_t d : others) limit[static_cast<size_t>(d)] = n.sizes[static_cast<size_t>(d)];
  HOSTIR_ASSIGN_OR_RETURN(Known table,
                          e.sliced(x, Dims(limit.size(), 0), limit, Dims(limit.size(), 1)));
  Dims order = flat;
  order.insert(order.end(), others.begin(), others.end());
  HOSTIR_ASSIGN_OR_RETURN(table, e.transposed(table, order));
  Dims rows = {volume(picked(x.type.dims, flat))};
  for (const int64_t d : others) rows.push_back(n.sizes[static_cast<size_t>(d)]);
  HOSTIR_ASSIGN_OR_RETURN(table, e.reshaped(table, rows));
  HOSTIR_ASSIGN_OR_RETURN(const Known at, linear_indices(e, x, indices, n, false));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.apply(*find_op("take"), {table, at}, dim_only(0)));
  // [batch.., window of the addressed dims.., others..] to [batch.., kept dims in operand order..].
  Dims places = counting(batch);
  Dims sizes = picked(y.type.dims, places);
  for (const int64_t d : kept_dims(n)) {
    const auto place = std::find(order.begin(), order.end(), d) - order.begin();
    places.push_back(static_cast<int64_t>(batch) + place);
    sizes.push_back(n.sizes[static_cast<size_t>(d)]);
  }
  Dims all = places;  // dropped dimensions, of size 1, go to the end and are then reshaped away
  for (size_t i = 0; i < y.type.dims.size(); ++i) {
    if (!contains(places, static_cast<int64_t>(i))) all.push_back(static_cast<int64_t>(i));
  }
  HOSTIR_ASSIGN_OR_RETURN(y, e.transposed(y, all));
  HOSTIR_ASSIGN_OR_RETURN(y, e.reshaped(y, sizes));
  return e.transposed(y, windows_permutation(n, rank));
}

Expected<Known> scattered(Emitter& e, const Known& base, const Known& indices, const Known& updates,
                          const IndexingNumbers& n, std::string mode) {
  const size_t batch = index_batch_dims(indices, n).size();
  const size_t rank = batch + n.window.size();
  if (mode == "sub") {
    const bool is_unsigned_base = is_unsigned(*base.type.dtype());
    HOSTIR_ASSIGN_OR_RETURN(const Known less,
                            is_unsigned_base
                                ? e.apply(OpKind::sub, {e.integer(0, updates.type), updates})
                                : e.apply(OpKind::neg, {updates}));
    return scattered(e, base, indices, less, n, "add");
  }
  if (const auto along = along_form(base, indices, n))
    return put_along(e, base, indices, updates, n, *along, mode);
  HOSTIR_ASSIGN_OR_RETURN(Known what, e.transposed(updates, inverse(windows_permutation(n, rank))));
  if (is_rows(base, n)) {
    // [batch.., before.., after..] to [before.., batch.., after..].
    const auto dim = static_cast<size_t>(n.map[0]);
    Dims order;
    for (size_t i = 0; i < dim; ++i) order.push_back(static_cast<int64_t>(batch + i));
    for (size_t i = 0; i < batch; ++i) order.push_back(static_cast<int64_t>(i));
    for (size_t i = batch + dim; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
    HOSTIR_ASSIGN_OR_RETURN(what, e.transposed(what, order));
    HOSTIR_ASSIGN_OR_RETURN(const Known at, component(e, indices, n, 0));
    return put_into(e, *find_op("put"), what, at, base, n.map[0], mode);
  }
  const Dims flat = addressed_dims(n);
  const Dims others = rest_of(base.type.dims.size(), flat);
  Dims order = flat;
  order.insert(order.end(), others.begin(), others.end());
  // Updates [batch.., kept..] to [batch.., window of the addressed dims.., others..].
  const Dims kept = kept_dims(n);
  Dims places = counting(batch);
  Dims sizes = picked(what.type.dims, places);
  for (const int64_t d : order) {
    const auto place = std::find(kept.begin(), kept.end(), d);
    if (place != kept.end()) places.push_back(static_cast<int64_t>(batch) + (place - kept.begin()));
    sizes.push_back(n.sizes[static_cast<size_t>(d)]);
  }
  HOSTIR_ASSIGN_OR_RETURN(what, e.transposed(what, places));
  HOSTIR_ASSIGN_OR_RETURN(what, e.reshaped(what, sizes));
  HOSTIR_ASSIGN_OR_RETURN(const Known at, linear_indices(e, base, indices, n, true));
  HOSTIR_ASSIGN_OR_RETURN(Known table, e.transposed(base, order));
  const Dims apart = table.type.dims;
  Dims rows = {volume(picked(base.type.dims, flat))};
  for (const int64_t d : others) rows.push_back(base.type.dims[static_cast<size_t>(d)]);
  HOSTIR_ASSIGN_OR_RETURN(table, e.reshaped(table, rows));
  // A window narrower than an unindexed dimension starts at the beginning of that dimension.
  for (size_t i = 0; i < others.size(); ++i) {
    const auto at_dim = static_cast<size_t>(batch + flat.size() + i);
    const int64_t missing = base.type.dims[static_cast<size_t>(others[i])] - what.type.dims[at_dim];
    if (missing == 0) continue;
    return fail_at(ErrorKind::kInvalid, "import_c8",
                   "a scatter of windows narrower than a dimension that is not indexed", e.place());
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, put_into(e, *find_op("put"), what, at, table, 0, mode));
  HOSTIR_ASSIGN_OR_RETURN(y, e.reshaped(y, apart));
  return e.transposed(y, inverse(order));
}

}  // namespace hostir::importer
