// Operations with data-dependent positions: dynamic slices, gather and scatter.
//
// gather and scatter become `take` and `put` along one dimension. The usual forms (rows of a table,
// one index per row) keep their dimensions, so that shardings propagate. Every other form is
// rewritten over one flattened dimension with a linear index.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hostir/import/emit/handlers.h"
#include "hostir/import/ops/indexing.h"
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

// The region's result `i` as a region of its own, on the arguments `i` of both sides. nullopt if a
// result uses other arguments.
ModuleBlock only_result(const ModuleBlock& block, size_t i, size_t count) {
  ModuleBlock out;
  out.arguments = {block.arguments[i], block.arguments[count + i]};
  ModuleOp last = block.ops.back();
  last.operands = {last.operands[i]};
  std::set<ValueNumber> used(last.operands.begin(), last.operands.end());
  out.ops.push_back(std::move(last));
  for (size_t k = block.ops.size() - 1; k-- > 0;) {
    const ModuleOp& op = block.ops[k];
    const auto is_used = [&](ValueNumber v) { return used.contains(v); };
    if (std::none_of(op.results.begin(), op.results.end(), is_used)) continue;
    used.insert(op.operands.begin(), op.operands.end());
    out.ops.insert(out.ops.begin(), op);
  }
  return out;
}

// A scatter of several tensors becomes one scatter per tensor, if the region treats them
// separately.
Expected<void> emit_scatters(const OpSite& s) {
  const size_t count = s.op.results.size();
  const bool good = s.op.regions.size() == 1 && s.count() == 2 * count + 1 &&
                    s.op.regions[0].arguments.size() == 2 * count && !s.op.regions[0].ops.empty() &&
                    s.op.regions[0].ops.back().operands.size() == count;
  if (!good) return s.fail("import_c5", "needs an update for each operand, and a region for both");
  std::vector<ModuleOp> parts;
  for (size_t i = 0; i < count; ++i) {
    ModuleOp& part = parts.emplace_back(s.op);
    part.operands = {s.op.operands[i], s.op.operands[count], s.op.operands[count + 1 + i]};
    part.results = {s.op.results[i]};
    part.regions = {only_result(s.op.regions[0], i, count)};
    if (!scatter_mode({s.emitter, s.function, part, s.frame}))
      return s.emitter.opaque(s, "a scatter of several tensors that are not all set or added to");
  }
  for (const ModuleOp& part : parts) HOSTIR_TRY(s.emitter.operation(s.function, part, s.frame));
  return {};
}

Expected<void> emit_scatter(const OpSite& s) {
  if (!find_op("put") || !find_op("put_along")) return s.emitter.opaque(s, "no op puts values");
  if (s.count() != 3) return emit_scatters(s);
  const auto mode = scatter_mode(s);
  if (!mode) return s.emitter.opaque(s, "a scatter that neither sets nor adds");
  HOSTIR_ASSIGN_OR_RETURN(const IndexingNumbers n, scatter_numbers(s));
  HOSTIR_ASSIGN_OR_RETURN(Known y, scattered(s.emitter, s.in(0), s.in(1), s.in(2), n, *mode));
  return s.set(std::move(y));
}

constexpr HandlerRow kIndexRows[] = {
    {"stablehlo.dynamic_slice", emit_dynamic_slice},
    {"stablehlo.dynamic_update_slice", emit_dynamic_update_slice, 2},
    {"stablehlo.gather", emit_gather, 2},
    {"stablehlo.scatter", emit_scatter, 3},
};

}  // namespace

std::span<const HandlerRow> index_handlers() { return kIndexRows; }

}  // namespace hostir::importer
