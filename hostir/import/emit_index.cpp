// Operations with data-dependent positions: dynamic slices, gather and scatter, sort and top_k.
//
// gather and scatter become `take` and `put` along one dimension. The usual forms (rows of a table,
// one index per row) keep their dimensions, so that shardings propagate. Every other form is
// rewritten over one flattened dimension with a linear index.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "hostir/import/handlers.h"
#include "hostir/import/indexing.h"
#include "hostir/import/reducer.h"
#include "hostir/ops/record.h"

namespace hostir::importer {

namespace {

// The starts as numbers, clamped so that the box is in bounds; nullopt if one is not known.
std::optional<std::vector<int64_t>> known_starts(const OpSite& s, size_t first,
                                                 const std::vector<int64_t>& dims,
                                                 const std::vector<int64_t>& sizes) {
  std::vector<int64_t> starts;
  for (size_t d = 0; d < dims.size(); ++d) {
    const Known& start = s.in(first + d);
    const int64_t room = dims[d] - sizes[d];
    if (room == 0) {
      starts.push_back(0);
      continue;
    }
    if (!start.is_number()) return std::nullopt;
    starts.push_back(std::clamp<int64_t>(start.number->get_int(0), 0, room));
  }
  return starts;
}

Expected<void> emit_dynamic_slice(const OpSite& s) {
  auto sizes = s.op.integers("sizes");
  if (sizes.empty()) sizes = s.op.integers("slice_sizes");
  const auto& dims = s.in(0).type.dims;
  if (sizes.size() != dims.size() || s.count() != dims.size() + 1)
    return s.fail("import_c2", "needs a start and a size for each dimension");
  for (size_t d = 0; d < dims.size(); ++d) {
    if (sizes[d] < 0 || sizes[d] > dims[d])
      return s.fail("import_c2",
                    fmt::format("the size {} is larger than dimension {}", sizes[d], d));
  }
  if (const auto starts = known_starts(s, 1, dims, sizes)) {
    std::vector<int64_t> limit = *starts;
    for (size_t d = 0; d < limit.size(); ++d) limit[d] += sizes[d];
    HOSTIR_ASSIGN_OR_RETURN(
        Known y, s.emitter.sliced(s.in(0), *starts, limit, std::vector<int64_t>(dims.size(), 1)));
    return s.set(std::move(y));
  }
  const auto kind = find_op("dynamic_slice");
  if (!kind) return s.emitter.opaque(s, "a start that is data");
  std::vector<Known> operands;
  for (size_t i = 0; i < s.count(); ++i) operands.push_back(s.in(i));
  Attributes attributes;
  attributes.set("sizes", ExprList(sizes.begin(), sizes.end()));
  HOSTIR_ASSIGN_OR_RETURN(Known y,
                          s.emitter.apply_list(*kind, std::move(operands), std::move(attributes)));
  return s.set(std::move(y));
}

// An update at known starts: in each dimension, joins the part before it, the update and the part
// after it.
Expected<Known> updated(Emitter& e, const Known& x, const Known& update,
                        const std::vector<int64_t>& starts, size_t from) {
  for (size_t d = from; d < starts.size(); ++d) {
    const int64_t size = x.type.dims[d];
    const int64_t length = update.type.dims[d];
    if (length == size) continue;
    const auto part = [&](int64_t lo, int64_t hi) {
      std::vector<int64_t> start(starts.size(), 0);
      std::vector<int64_t> limit = x.type.dims;
      start[d] = lo;
      limit[d] = hi;
      return e.sliced(x, start, limit, std::vector<int64_t>(starts.size(), 1));
    };
    HOSTIR_ASSIGN_OR_RETURN(const Known inside, part(starts[d], starts[d] + length));
    HOSTIR_ASSIGN_OR_RETURN(Known middle, updated(e, inside, update, starts, d + 1));
    HOSTIR_ASSIGN_OR_RETURN(Known before, part(0, starts[d]));
    HOSTIR_ASSIGN_OR_RETURN(Known behind, part(starts[d] + length, size));
    // Keep the result as pieces, so that a loop that fills a stack emits one concat at the end.
    Known out;
    out.type = x.type;
    out.pieces_dim = d;
    const auto add = [&](Known piece) {
      if (piece.type.dims[d] == 0) return;
      if (!piece.value.valid() && !piece.pieces.empty() && piece.pieces_dim == d) {
        out.pieces.insert(out.pieces.end(), piece.pieces.begin(), piece.pieces.end());
      } else {
        out.pieces.push_back(std::move(piece));
      }
    };
    add(std::move(before));
    add(std::move(middle));
    add(std::move(behind));
    return out.pieces.size() == 1 ? out.pieces.front() : out;
  }
  return update;
}

Expected<void> emit_dynamic_update_slice(const OpSite& s) {
  const auto& dims = s.in(0).type.dims;
  const auto& sizes = s.in(1).type.dims;
  if (sizes.size() != dims.size() || s.count() != dims.size() + 2)
    return s.fail("import_c2", "needs a start for each dimension");
  for (size_t d = 0; d < dims.size(); ++d) {
    if (sizes[d] > dims[d])
      return s.fail("import_c2", fmt::format("the update is larger than dimension {}: {} of {}", d,
                                             sizes[d], dims[d]));
  }
  if (s.in(1).type.element_count() == 0) return s.set(s.in(0));
  if (const auto starts = known_starts(s, 2, dims, sizes)) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, updated(s.emitter, s.in(0), s.in(1), *starts, 0));
    return s.set(std::move(y));
  }
  const auto kind = find_op("dynamic_update_slice");
  if (!kind) return s.emitter.opaque(s, "a start that is data");
  std::vector<Known> operands;
  for (size_t i = 0; i < s.count(); ++i) operands.push_back(s.in(i));
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply_list(*kind, std::move(operands)));
  return s.set(std::move(y));
}

// ---- gather and scatter

Expected<void> emit_gather(const OpSite& s) {
  if (!find_op("take") || !find_op("take_along"))
    return s.emitter.opaque(s, "no op looks values up");
  HOSTIR_ASSIGN_OR_RETURN(const IndexingNumbers n, gather_numbers(s));
  HOSTIR_ASSIGN_OR_RETURN(Known y, gathered(s.emitter, s.in(0), s.in(1), n));
  return s.set(std::move(y));
}

Expected<void> emit_scatter(const OpSite& s) {
  if (!find_op("put") || !find_op("put_along")) return s.emitter.opaque(s, "no op puts values");
  if (s.count() != 3) return s.emitter.opaque(s, "a scatter of several tensors");
  const auto mode = scatter_mode(s);
  if (!mode) return s.emitter.opaque(s, "a scatter that neither sets nor adds");
  HOSTIR_ASSIGN_OR_RETURN(const IndexingNumbers n, scatter_numbers(s));
  HOSTIR_ASSIGN_OR_RETURN(Known y, scattered(s.emitter, s.in(0), s.in(1), s.in(2), n, *mode));
  return s.set(std::move(y));
}

// ---- sort

// True if descending, false if ascending by the first operand; nullopt unless the region returns a
// single comparison of its arguments.
std::optional<bool> is_descending(const ModuleOp& op) {
  if (op.regions.size() != 1 || op.regions[0].ops.size() < 2 || op.regions[0].arguments.size() < 2)
    return std::nullopt;
  const ModuleBlock& block = op.regions[0];
  const ModuleOp& last = block.ops[block.ops.size() - 2];
  if (last.name != "stablehlo.compare" || last.operands.size() != 2 ||
      block.ops.back().operands != last.results)
    return std::nullopt;
  std::string_view direction = last.word("comparison_direction");
  if (direction.empty()) direction = last.word("word");
  // Floats are compared after selects that unify zeros and NaNs. Trace these back to the argument.
  const auto argument_behind = [&](ValueNumber v) {
    for (bool moved = true; moved;) {
      moved = false;
      for (const ModuleOp& inner : block.ops) {
        if (inner.results != std::vector<ValueNumber>{v} || inner.operands.empty()) continue;
        if (inner.name == "stablehlo.constant") break;
        v = inner.operands
                .back();  // in `select p, t, x`, x is the value used unless p marks a special case
        moved = true;
        break;
      }
    }
    return v;
  };
  const ValueNumber left = argument_behind(last.operands[0]);
  const ValueNumber right = argument_behind(last.operands[1]);
  const bool straight = left == block.arguments[0] && right == block.arguments[1];
  const bool crossed = left == block.arguments[1] && right == block.arguments[0];
  if (!straight && !crossed) return std::nullopt;
  if (direction == "LT" || direction == "LE") return crossed;
  if (direction == "GT" || direction == "GE") return straight;
  return std::nullopt;
}

// The elements of `x` permuted by `order` along `dim`.
Expected<Known> in_order(Emitter& e, const Known& x, const Known& order, int64_t dim) {
  Attributes attributes;
  attributes.set("dim", dim);
  return e.apply(*find_op("take_along"), {x, order}, std::move(attributes));
}

Expected<void> emit_sort(const OpSite& s) {
  const auto kind = find_op("sort");
  const auto descending = is_descending(s.op);
  if (!kind || !find_op("take_along") || !descending)
    return s.emitter.opaque(s, "an order that is not that of the first operand");
  const auto rank = static_cast<int64_t>(s.in(0).type.dims.size());
  int64_t dim = s.op.integer_or("dimension", -1);
  if (dim < 0) dim += rank;
  if (dim < 0 || dim >= rank)
    return s.fail("import_c2", fmt::format("there is no dimension {}", dim));
  Attributes attributes;
  attributes.set("dim", dim);
  attributes.set("descending", *descending);
  HOSTIR_ASSIGN_OR_RETURN(auto sorted,
                          s.emitter.apply_many(*kind, {s.in(0)}, std::move(attributes), 2));
  HOSTIR_TRY(s.set(sorted[0], 0));
  for (size_t i = 1; i < s.count(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, in_order(s.emitter, s.in(i), sorted[1], dim));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return {};
}

// chlo.top_k: the k largest elements along the last dimension, and their indices.
Expected<void> emit_top_k(const OpSite& s) {
  const auto kind = find_op("sort");
  if (!kind || s.in(0).type.dims.empty()) return s.emitter.opaque(s, "no op sorts");
  Attributes attributes;
  attributes.set("dim", static_cast<int64_t>(s.in(0).type.dims.size()) - 1);
  attributes.set("descending", true);
  HOSTIR_ASSIGN_OR_RETURN(const auto sorted,
                          s.emitter.apply_many(*kind, {s.in(0)}, std::move(attributes), 2));
  std::vector<int64_t> limit = s.in(0).type.dims;
  const std::vector<int64_t> zeros(limit.size(), 0);
  const std::vector<int64_t> ones(limit.size(), 1);
  limit.back() = s.result_type().dims.empty() ? -1 : s.result_type().dims.back();
  if (limit.back() < 0 || limit.back() > s.in(0).type.dims.back())
    return s.fail("import_c2", fmt::format("k = {} is outside the last dimension", limit.back()));
  for (size_t i = 0; i < 2; ++i) {
    HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.sliced(sorted[i], zeros, limit, ones));
    HOSTIR_TRY(s.set(std::move(y), i));
  }
  return {};
}

constexpr HandlerRow kIndexRows[] = {
    {"stablehlo.dynamic_slice", emit_dynamic_slice},
    {"stablehlo.dynamic_update_slice", emit_dynamic_update_slice, 2},
    {"stablehlo.gather", emit_gather, 2},
    {"stablehlo.scatter", emit_scatter, 3},
    {"stablehlo.sort", emit_sort},
    {"chlo.top_k", emit_top_k},
};

}  // namespace

std::span<const HandlerRow> index_handlers() { return kIndexRows; }

}  // namespace hostir::importer
