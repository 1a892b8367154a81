// Operations that move or create elements.

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/emit/handlers.h"
#include "hostir/import/ops/windows.h"
#include "hostir/ops/record.h"

namespace hostir::importer {

namespace {

Expected<void> emit_constant(const OpSite& s) {
  const Attr* value = s.op.find("value");
  if (value == nullptr || !value->literal || !value->literal->data) {
    HOSTIR_TRY(our_type(s.result_type(), s.op.span));
    return s.fail(
        "import_c7",
        fmt::format("the text leaves out the {} values of this constant; print them with "
                    "`o = xla_client._xla.HloPrintOptions(); o.print_large_constants = True; "
                    "compiled.runtime_executable().hlo_modules()[0].to_string(o)`, or for MLIR "
                    "without a limit on large elements",
                    s.result_type().element_count()));
  }
  Known known;
  known.type = s.result_type();
  known.number = value->literal->data;
  known.splat = value->literal->splat;
  return s.set(std::move(known));
}

Expected<void> emit_iota(const OpSite& s) {
  const ModuleType& type = s.result_type();
  if (type.element_count() == 1) return s.set(s.emitter.integer(0, type));
  Attributes attributes;
  const int64_t dim = s.op.integer_or("dim", s.op.integer_or("iota_dimension", 0));
  attributes.set("dim", dim);
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(OpKind::iota, {}, std::move(attributes), &type));
  return s.set(std::move(y));
}

std::vector<int64_t> dims_attribute(const OpSite& s, std::string_view generic) {
  return s.op.find("dims") != nullptr ? s.op.integers("dims") : s.op.integers(generic);
}

Expected<void> emit_broadcast(const OpSite& s) {
  const auto dims = dims_attribute(s, "broadcast_dimensions");
  if (dims.size() != s.in(0).type.dims.size())
    return s.fail("import_c2", fmt::format("dims names {} dimensions, the operand has {}",
                                           dims.size(), s.in(0).type.dims.size()));
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.broadcast(s.in(0), dims, s.result_type().dims));
  return s.set(std::move(y));
}

Expected<void> emit_transpose(const OpSite& s) {
  const auto permutation = dims_attribute(s, "permutation");
  const size_t rank = s.in(0).type.dims.size();
  std::vector<int64_t> sorted = permutation;
  std::sort(sorted.begin(), sorted.end());
  for (size_t d = 0; d < sorted.size(); ++d) {
    if (sorted.size() != rank || sorted[d] != static_cast<int64_t>(d))
      return s.fail("import_c2",
                    fmt::format("dims = [{}] is not a permutation of the operand's dimensions",
                                fmt::join(permutation, ", ")));
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.transposed(s.in(0), permutation));
  return s.set(std::move(y));
}

Expected<void> emit_reshape(const OpSite& s) {
  if (s.in(0).type.element_count() != s.result_type().element_count()) {
    return s.fail("import_c2", "the result " + s.result_type().to_string() +
                                   " has a different number of elements");
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.reshaped(s.in(0), s.result_type().dims));
  return s.set(std::move(y));
}

Expected<void> emit_slice(const OpSite& s) {
  const auto start = s.op.integers("start_indices");
  const auto limit = s.op.integers("limit_indices");
  auto stride = s.op.integers("strides");
  const auto& dims = s.in(0).type.dims;
  if (stride.empty()) stride.assign(start.size(), 1);
  if (start.size() != dims.size() || limit.size() != dims.size() || stride.size() != dims.size()) {
    return s.fail("import_c2", "needs a start, a limit and a stride for each dimension");
  }
  for (size_t d = 0; d < dims.size(); ++d) {
    if (start[d] < 0 || limit[d] < start[d] || limit[d] > dims[d] || stride[d] < 1) {
      return s.fail("import_c2",
                    fmt::format("[{}:{}:{}] is outside dimension {}, which has {} elements",
                                start[d], limit[d], stride[d], d, dims[d]));
    }
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.sliced(s.in(0), start, limit, stride));
  return s.set(std::move(y));
}

Expected<void> emit_concatenate(const OpSite& s) {
  const int64_t dim = s.op.integer_or("dim", s.op.integer_or("dimension", 0));
  std::vector<Known> parts;
  for (size_t i = 0; i < s.count(); ++i) {
    parts.push_back(s.in(i));
    if (dim < 0 || static_cast<size_t>(dim) >= parts.back().type.dims.size()) {
      return s.fail("import_c2", fmt::format("there is no dimension {}", dim));
    }
  }
  if (parts.empty()) return s.fail("import_c2", "has no operands");
  HOSTIR_ASSIGN_OR_RETURN(Known y,
                          s.emitter.concatenated(std::move(parts), static_cast<size_t>(dim)));
  return s.set(std::move(y));
}

Expected<void> emit_pad(const OpSite& s) {
  const auto pick = [&](std::string_view pretty, std::string_view generic) {
    auto values = s.op.find(pretty) != nullptr ? s.op.integers(pretty) : s.op.integers(generic);
    return values;
  };
  const auto low = pick("low", "edge_padding_low");
  const auto high = pick("high", "edge_padding_high");
  const auto interior = pick("interior", "interior_padding");
  const size_t rank = s.in(0).type.dims.size();
  if (low.size() != rank || high.size() != rank || interior.size() != rank) {
    return s.fail("import_c2", "needs a low, a high and an interior padding for each dimension");
  }
  for (size_t d = 0; d < rank; ++d) {
    const int64_t size = s.in(0).type.dims[d];
    if (interior[d] < 0)
      return s.fail("import_c2",
                    fmt::format("the interior padding of dimension {} is {}; it cannot be negative",
                                d, interior[d]));
    Window window;
    window.low = low[d];
    window.high = high[d];
    window.inside = interior[d];
    if (window.padded_size(size) != s.result_type().dims[d]) {
      return s.fail("import_c2",
                    fmt::format("padding of {}, {} and {} does not make the {} elements of "
                                "dimension {} the {} of the result",
                                low[d], interior[d], high[d], size, d, s.result_type().dims[d]));
    }
  }
  HOSTIR_ASSIGN_OR_RETURN(Known y, padded(s.emitter, s.in(0), s.in(1), low, high, interior));
  return s.set(std::move(y));
}

Expected<void> emit_reverse(const OpSite& s) {
  const auto dims = dims_attribute(s, "dimensions");
  const auto kind = find_op("reverse");
  if (s.in(0).is_number() && s.in(0).splat) return s.set(s.in(0));
  if (!kind) return s.emitter.opaque(s, "");
  Attributes attributes;
  attributes.set("dims", IntList(dims));
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.apply(*kind, {s.in(0)}, std::move(attributes)));
  return s.set(std::move(y));
}

// Passes values through unchanged: barriers, and markers for other partitioners.
Expected<void> emit_identity(const OpSite& s) {
  for (size_t i = 0; i < s.op.results.size(); ++i) {
    if (i >= s.count())
      return s.fail("import_c2", fmt::format("has {} results and only {} operands",
                                             s.op.results.size(), s.count()));
    HOSTIR_TRY(s.set(s.in(i), i));
  }
  return {};
}

// A sharding requested by the user. If it has open dimensions, it becomes an annotation on the
// value and propagation chooses the rest. A closed sharding becomes a `reshard`.
Expected<void> emit_sharding_constraint(const OpSite& s) {
  const Attr* attr = s.op.find("sharding");
  if (attr == nullptr || attr->shardings.empty()) return s.fail("import_c2", "has no sharding");
  Sharding to = attr->shardings.front();
  if (to.dims.size() != s.in(0).type.dims.size())
    return s.fail("import_c2", fmt::format("its sharding has {} dimensions", to.dims.size()));
  const Mesh* mesh = s.emitter.mesh_of(to);
  if (mesh == nullptr) return emit_identity(s);
  to.mesh = mesh->name;
  Known y = s.in(0);
  HOSTIR_ASSIGN_OR_RETURN(y.value, s.emitter.materialise(y));
  const bool open =
      std::any_of(to.dims.begin(), to.dims.end(), [](const DimSharding& d) { return d.open; });
  auto& type = std::get<TensorType>(s.emitter.target().value(y.value).type);
  const bool computed = s.emitter.target().value(y.value).defined_by.valid();
  if (computed && !type.sharding && (open || s.function.uses(s.op.operands[0]) == 1)) {
    type.sharding = std::move(to);
    return s.set(std::move(y));
  }
  if (type.sharding == to) return s.set(std::move(y));
  if (open) {
    // The value is a parameter or already annotated, and a `reshard` cannot have open dimensions,
    // so drop the constraint.
    return s.set(std::move(y));
  }
  Attributes attributes;
  attributes.set("to", std::move(to));
  HOSTIR_ASSIGN_OR_RETURN(Known moved,
                          s.emitter.apply(OpKind::reshard, {y}, std::move(attributes)));
  return s.set(std::move(moved));
}

// Reinterprets the bytes under another shape, in the memory order given by the layouts.
Expected<void> emit_bitcast(const OpSite& s) {
  const auto from = s.op.integers("from");
  const auto to = s.op.integers("to");
  const auto& dims = s.result_type().dims;
  if (s.in(0).type.dtype() != s.result_type().dtype())
    return s.emitter.opaque(s, "to another element type");
  if (from.size() != s.in(0).type.dims.size() || to.size() != dims.size() ||
      s.in(0).type.element_count() != s.result_type().element_count()) {
    return s.fail("import_c2",
                  "its layouts are not permutations of the dimensions of operand and result");
  }
  std::vector<int64_t> memory;
  std::vector<int64_t> back(to.size());
  for (size_t d = 0; d < to.size(); ++d) {
    if (to[d] < 0 || static_cast<size_t>(to[d]) >= dims.size())
      return s.fail("import_c2",
                    "its layouts are not permutations of the dimensions of operand and result");
    memory.push_back(dims[static_cast<size_t>(to[d])]);
    back[static_cast<size_t>(to[d])] = static_cast<int64_t>(d);
  }
  for (const int64_t d : from) {
    if (d < 0 || static_cast<size_t>(d) >= from.size())
      return s.fail("import_c2",
                    "its layouts are not permutations of the dimensions of operand and result");
  }
  HOSTIR_ASSIGN_OR_RETURN(const Known rows, s.emitter.transposed(s.in(0), from));
  HOSTIR_ASSIGN_OR_RETURN(const Known flat, s.emitter.reshaped(rows, memory));
  HOSTIR_ASSIGN_OR_RETURN(Known y, s.emitter.transposed(flat, back));
  return s.set(std::move(y));
}

constexpr HandlerRow kShapeRows[] = {
    {"hlo.bitcast", emit_bitcast},
    {"stablehlo.constant", emit_constant, 0},
    {"sdy.constant", emit_constant, 0},
    {"stablehlo.iota", emit_iota, 0},
    {"stablehlo.broadcast_in_dim", emit_broadcast},
    {"stablehlo.transpose", emit_transpose},
    {"stablehlo.reshape", emit_reshape},
    {"stablehlo.slice", emit_slice},
    {"stablehlo.concatenate", emit_concatenate},
    {"stablehlo.pad", emit_pad, 2},
    {"stablehlo.reverse", emit_reverse},
    {"stablehlo.optimization_barrier", emit_identity},
    {"sdy.propagation_barrier", emit_identity},
    {"sdy.sharding_group", emit_identity},
    {"sdy.data_flow_edge", emit_identity},
    {"sdy.sharding_constraint", emit_sharding_constraint},
    {"sdy.reshard", emit_sharding_constraint},
    {"sdy.all_gather", emit_sharding_constraint},
    {"sdy.all_slice", emit_sharding_constraint},
    {"sdy.all_to_all", emit_sharding_constraint},
    {"sdy.collective_permute", emit_sharding_constraint},
    {"sdy.all_reduce", emit_sharding_constraint},
    {"sdy.reduce_scatter", emit_sharding_constraint},
    {"sdy.sharded_to_unreduced", emit_sharding_constraint},
    {"sdy.replicated_to_unreduced", emit_sharding_constraint},
};

}  // namespace

std::span<const HandlerRow> shape_handlers() { return kShapeRows; }

}  // namespace hostir::importer
