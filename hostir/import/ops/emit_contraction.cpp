// dot_general, which becomes a `matmul` if possible, so that the program is easier to read.

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/emit/handlers.h"
#include "hostir/ops/record.h"
#include "hostir/support/lists.h"

namespace hostir::importer {

namespace {

using Dims = std::vector<int64_t>;

struct Contraction {
  Dims left_batch, right_batch;
  Dims left_contracted, right_contracted;
  Dims left_free, right_free;
};

// Pretty form: `batching_dims = [0] x [0], contracting_dims = [2] x [1]`; generic form:
// `#stablehlo.dot<...>`.
std::optional<Contraction> contraction_of(const OpSite& s,
                                          std::string_view generic = "dot_dimension_numbers") {
  Contraction c;
  const auto two = [&](std::string_view name, Dims& left, Dims& right) {
    const Attr* lists = s.op.find(name);
    if (lists == nullptr || lists->items.size() != 2) return;
    left = lists->items[0].integers();
    right = lists->items[1].integers();
  };
  two("batching_dims", c.left_batch, c.right_batch);
  two("contracting_dims", c.left_contracted, c.right_contracted);
  if (const Attr* numbers = s.op.find(generic)) {
    const auto list = [&](std::string_view name, Dims& out) {
      if (const Attr* field = numbers->find(name)) out = field->integers();
    };
    list("lhs_batching_dimensions", c.left_batch);
    list("rhs_batching_dimensions", c.right_batch);
    list("lhs_contracting_dimensions", c.left_contracted);
    list("rhs_contracting_dimensions", c.right_contracted);
  }
  const auto free = [](size_t rank, const Dims& batch, const Dims& contracted, Dims& out) {
    std::vector<int> seen(rank, 0);
    for (const Dims* list : {&batch, &contracted}) {
      for (const int64_t d : *list) {
        if (d < 0 || static_cast<size_t>(d) >= rank || seen[static_cast<size_t>(d)]++ != 0)
          return false;
      }
    }
    for (size_t d = 0; d < rank; ++d) {
      if (seen[d] == 0) out.push_back(static_cast<int64_t>(d));
    }
    return true;
  };
  if (c.left_batch.size() != c.right_batch.size() ||
      c.left_contracted.size() != c.right_contracted.size() ||
      !free(s.in(0).type.dims.size(), c.left_batch, c.left_contracted, c.left_free) ||
      !free(s.in(1).type.dims.size(), c.right_batch, c.right_contracted, c.right_free)) {
    return std::nullopt;
  }
  return c;
}

Dims sizes_of(const Known& x, const Dims& dims) {
  Dims out;
  for (const int64_t d : dims) out.push_back(x.type.dims[static_cast<size_t>(d)]);
  return out;
}

int64_t product_of(const Dims& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) product *= size;
  return product;
}

Dims joined(std::initializer_list<Dims> parts) {
  Dims out;
  for (const Dims& part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

bool counts_from(const Dims& dims, int64_t first) {
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != first + static_cast<int64_t>(i)) return false;
  }
  return true;
}

// True if it is a `matmul` without transposes: [batch.., rows.., K] times [batch.., K, columns],
// with one row dimension if there is a batch.
bool is_matmul(const Contraction& c) {
  const auto batch = static_cast<int64_t>(c.left_batch.size());
  const auto rows = static_cast<int64_t>(c.left_free.size());
  const bool shapes = c.left_contracted.size() == 1 && c.right_free.size() == 1 && rows >= 1 &&
                      (batch == 0 || rows == 1);
  return shapes && counts_from(c.left_batch, 0) && counts_from(c.right_batch, 0) &&
         c.left_contracted[0] == batch + rows && c.right_contracted[0] == batch &&
         c.right_free[0] == batch + 1;
}

// The result is [batch, left free, right free].
Expected<Known> contract(Emitter& e, Known a, Known b, const Contraction& c) {
  const auto general = find_op("dot_general");
  if (general && !is_matmul(c)) {
    Attributes attributes;
    attributes.set("lhs_batch", IntList(c.left_batch));
    attributes.set("rhs_batch", IntList(c.right_batch));
    attributes.set("lhs_contracting", IntList(c.left_contracted));
    attributes.set("rhs_contracting", IntList(c.right_contracted));
    return e.apply(*general, {a, b}, std::move(attributes));
  }
  const Dims batch = sizes_of(a, c.left_batch);
  const Dims rows = sizes_of(a, c.left_free);
  const Dims columns = sizes_of(b, c.right_free);
  const Dims depth = sizes_of(a, c.left_contracted);
  HOSTIR_ASSIGN_OR_RETURN(a,
                          e.transposed(a, joined({c.left_batch, c.left_free, c.left_contracted})));
  HOSTIR_ASSIGN_OR_RETURN(
      b, e.transposed(b, joined({c.right_batch, c.right_contracted, c.right_free})));
  // If the right side is a single matrix, keep the row dimensions of the left side separate, so
  // that each can stay cut.
  const bool one_matrix = batch.empty() && !rows.empty();
  const Dims left_rows = one_matrix ? rows : Dims{product_of(rows)};
  HOSTIR_ASSIGN_OR_RETURN(a, e.reshaped(a, joined({batch, left_rows, {product_of(depth)}})));
  HOSTIR_ASSIGN_OR_RETURN(
      b, e.reshaped(b, joined({batch, {product_of(depth)}, {product_of(columns)}})));
  HOSTIR_ASSIGN_OR_RETURN(const Known y, e.apply(OpKind::matmul, {a, b}));
  return e.reshaped(y, joined({batch, rows, columns}));
}

Expected<void> emit_dot_general(const OpSite& s) {
  const auto c = contraction_of(s);
  if (!c)
    return s.fail("import_c2",
                  "its dimension numbers name dimensions that the operands do not have");
  for (size_t i = 0; i < c->left_contracted.size(); ++i) {
    const int64_t left = sizes_of(s.in(0), c->left_contracted)[i];
    const int64_t right = sizes_of(s.in(1), c->right_contracted)[i];
    if (left != right) {
      return s.fail("import_c2",
                    fmt::format("contracts a dimension of {} with one of {}", left, right));
    }
  }
  for (size_t i = 0; i < c->left_batch.size(); ++i) {
    const int64_t left = sizes_of(s.in(0), c->left_batch)[i];
    const int64_t right = sizes_of(s.in(1), c->right_batch)[i];
    if (left != right) {
      return s.fail("import_c2", fmt::format("has batch dimensions of {} and {}", left, right));
    }
  }
  // The operands may be narrower than the result: 16-bit floats accumulated in f32.
  const std::string& element = s.result_type().element;
  HOSTIR_ASSIGN_OR_RETURN(Known a, s.emitter.cast(s.in(0), element));
  HOSTIR_ASSIGN_OR_RETURN(Known b, s.emitter.cast(s.in(1), element));
  HOSTIR_ASSIGN_OR_RETURN(Known y, contract(s.emitter, std::move(a), std::move(b), *c));
  return s.set(std::move(y));
}

// stablehlo.dot: contracts the last dimension of the left side with the first of the right side.
Expected<void> emit_dot(const OpSite& s) {
  Contraction c;
  const auto left = static_cast<int64_t>(s.in(0).type.dims.size());
  const auto right = static_cast<int64_t>(s.in(1).type.dims.size());
  if (left < 1 || left > 2 || right < 1 || right > 2)
    return s.fail("import_c2", "multiplies vectors and matrices only");
  c.left_contracted = {left - 1};
  c.right_contracted = {0};
  if (left == 2) c.left_free = {0};
  if (right == 2) c.right_free = {1};
  if (s.in(0).type.dims.back() != s.in(1).type.dims.front())
    return s.fail("import_c2", fmt::format("contracts a dimension of {} with one of {}",
                                           s.in(0).type.dims.back(), s.in(1).type.dims.front()));
  HOSTIR_ASSIGN_OR_RETURN(Known y, contract(s.emitter, s.in(0), s.in(1), c));
  return s.set(std::move(y));
}

// `lhs` once per group, [groups, ..], with zeros in the rows of other groups. Group g has the
// sizes[g] rows after those of the groups before it; rows after the last group belong to none.
// The sizes are [groups], or [batch.., groups] for batch dimensions of `lhs` in ascending order.
Expected<Known> rows_by_group(Emitter& e, const Known& lhs, const Known& sizes, const Dims& batch,
                              int64_t ragged) {
  HOSTIR_ASSIGN_OR_RETURN(Known size, e.cast(sizes, "i32"));
  Dims spread = {0};
  Dims front = {static_cast<int64_t>(size.type.dims.size()) - 1};
  for (size_t d = 0; d + 1 < size.type.dims.size(); ++d) {
    spread.push_back(batch[d] + 1);
    front.push_back(static_cast<int64_t>(d));
  }
  HOSTIR_ASSIGN_OR_RETURN(size, e.transposed(size, front));
  Attributes along;
  along.set("dim", int64_t{0});
  HOSTIR_ASSIGN_OR_RETURN(const Known end, e.apply(OpKind::cumsum, {size}, along));
  HOSTIR_ASSIGN_OR_RETURN(const Known begin, e.apply(OpKind::sub, {end, size}));
  Dims all = lhs.type.dims;
  all.insert(all.begin(), size.type.dims.front());
  const ModuleType numbers = tensor_type("i32", {lhs.type.dims[static_cast<size_t>(ragged)]});
  HOSTIR_ASSIGN_OR_RETURN(const Known row, e.apply(OpKind::iota, {}, along, &numbers));
  HOSTIR_ASSIGN_OR_RETURN(const Known rows, e.broadcast(row, {ragged + 1}, all));
  HOSTIR_ASSIGN_OR_RETURN(const Known low, e.broadcast(begin, spread, all));
  HOSTIR_ASSIGN_OR_RETURN(const Known high, e.broadcast(end, spread, all));
  HOSTIR_ASSIGN_OR_RETURN(const Known after, e.compared(rows, low, "ge"));
  HOSTIR_ASSIGN_OR_RETURN(const Known before, e.compared(rows, high, "lt"));
  HOSTIR_ASSIGN_OR_RETURN(const Known mine, e.apply(OpKind::logical_and, {after, before}));
  Dims behind;
  for (size_t d = 1; d < all.size(); ++d) behind.push_back(static_cast<int64_t>(d));
  HOSTIR_ASSIGN_OR_RETURN(const Known copies, e.broadcast(lhs, behind, all));
  return e.apply(OpKind::select, {mine, copies, e.number(0, copies.type)});
}

// chlo.ragged_dot. If the ragged dimension is a row of the result, each group of rows is multiplied
// with the group's own matrix, so the group is contracted. If it is contracted, there is one result
// per group, in front. If it is a batch dimension, the groups do not matter.
Expected<void> emit_ragged_dot(const OpSite& s) {
  const Attr* numbers = s.op.find("ragged_dot_dimension_numbers");
  auto c = contraction_of(s, "ragged_dot_dimension_numbers");
  const auto list = [&](std::string_view name) {
    const Attr* field = numbers != nullptr ? numbers->find(name) : nullptr;
    return field != nullptr ? field->integers() : Dims{};
  };
  const Dims ragged = list("lhs_ragged_dimensions");
  const Dims groups = list("rhs_group_dimensions");
  const Dims& sizes = s.in(2).type.dims;
  const bool batched =
      c && sizes.size() == 1 + c->left_batch.size() &&
      std::is_sorted(c->left_batch.begin(), c->left_batch.end()) &&
      std::equal(sizes.begin(), sizes.end() - 1, sizes_of(s.in(0), c->left_batch).begin());
  if (!c || ragged.size() != 1 || (sizes.size() != 1 && !batched))
    return s.emitter.opaque(s, "with groups that differ along a row");
  const auto is_in = [](const Dims& dims, const Dims& one) {
    return one.size() == 1 && contains(dims, one[0]);
  };
  const bool is_row = is_in(c->left_free, ragged);
  const bool is_contracted = is_in(c->left_contracted, ragged);
  if (is_row ? !is_in(c->right_free, groups) : !groups.empty())
    return s.fail("import_c2", "needs a group dimension exactly if the ragged one is a row");
  if (!is_row && !is_contracted && !is_in(c->left_batch, ragged))
    return s.fail("import_c2", fmt::format("has no dimension {}", ragged[0]));
  const std::string& element = s.result_type().element;
  HOSTIR_ASSIGN_OR_RETURN(Known a, s.emitter.cast(s.in(0), element));
  HOSTIR_ASSIGN_OR_RETURN(Known b, s.emitter.cast(s.in(1), element));
  if (is_row || is_contracted) {
    HOSTIR_ASSIGN_OR_RETURN(a, rows_by_group(s.emitter, a, s.in(2), c->left_batch, ragged[0]));
    for (Dims* dims : {&c->left_batch, &c->left_contracted, &c->left_free}) {
      for (int64_t& d : *dims) ++d;
    }
  }
  if (is_row) {
    c->left_contracted.insert(c->left_contracted.begin(), 0);
    c->right_contracted.insert(c->right_contracted.begin(), groups[0]);
    std::erase(c->right_free, groups[0]);
  }
  if (is_contracted) c->left_free.insert(c->left_free.begin(), 0);
  HOSTIR_ASSIGN_OR_RETURN(Known y, contract(s.emitter, std::move(a), std::move(b), *c));
  if (is_contracted) {  // the groups follow the batch dimensions; they belong after the devices
    const auto batch = static_cast<int64_t>(c->left_batch.size());
    const int64_t lead = s.op.integer_or("lead", 0);
    Dims order;
    for (int64_t d = 0; d < static_cast<int64_t>(y.type.dims.size()); ++d) {
      if (d != batch) order.push_back(d);
    }
    order.insert(order.begin() + std::clamp<int64_t>(lead, 0, batch), batch);
    HOSTIR_ASSIGN_OR_RETURN(y, s.emitter.transposed(y, order));
  }
  return s.set(std::move(y));
}

constexpr HandlerRow kContractionRows[] = {
    {"chlo.ragged_dot", emit_ragged_dot, 3},
    {"stablehlo.dot_general", emit_dot_general, 2},
    {"stablehlo.dot", emit_dot, 2},
};

}  // namespace

std::span<const HandlerRow> contraction_handlers() { return kContractionRows; }

}  // namespace hostir::importer
