// Operations whose sizes are operands. If the sizes are known numbers, or the text gives the
// result's sizes, they become the operations with sizes as attributes.

#include <fmt/format.h>

#include "hostir/import/emit/handlers.h"

namespace hostir::importer {

namespace {

Expected<void> as_static(const OpSite& s, std::string_view name, size_t operands,
                         std::vector<NamedAttr> attributes = {}) {
  if (s.result_type().element_count() < 0)
    return s.fail("import_c1",
                  "its result has a size that is not known; export the module with "
                  "fixed sizes");
  ModuleOp op = s.op;
  op.name = name;
  op.operands.resize(operands);
  for (NamedAttr& attribute : attributes) op.attributes.push_back(std::move(attribute));
  return s.emitter.operation(s.function, op, s.frame);
}

Expected<void> emit_dynamic_reshape(const OpSite& s) {
  return as_static(s, "stablehlo.reshape", 1);
}
Expected<void> emit_dynamic_iota(const OpSite& s) { return as_static(s, "stablehlo.iota", 0); }
Expected<void> emit_dynamic_broadcast(const OpSite& s) {
  return as_static(s, "stablehlo.broadcast_in_dim", 1);
}

// The numbers of operands `first` onwards, one list each; nullopt if one is not known.
std::optional<std::vector<std::vector<int64_t>>> numbers_of(const OpSite& s, size_t first) {
  std::vector<std::vector<int64_t>> out;
  for (size_t i = first; i < s.count(); ++i) {
    const Known& x = s.in(i);
    const auto dtype = x.type.dtype();
    if (!x.is_number() || x.type.dims.size() != 1 || x.type.dims[0] > 64 || !dtype ||
        is_float(*dtype))
      return std::nullopt;
    std::vector<int64_t>& list = out.emplace_back();
    for (int64_t k = 0; k < x.type.dims[0]; ++k) list.push_back(x.number->get_int(x.splat ? 0 : k));
  }
  return out;
}

Expected<void> with_lists(const OpSite& s, std::string_view name, size_t operands,
                          std::initializer_list<std::string_view> keys) {
  const auto lists = numbers_of(s, operands);
  if (!lists || lists->size() != keys.size()) return s.emitter.opaque(s, "sizes that are data");
  std::vector<NamedAttr> attributes;
  size_t i = 0;
  for (const std::string_view key : keys)
    attributes.emplace_back(key, Attr::of_ints((*lists)[i++]));
  return as_static(s, name, operands, std::move(attributes));
}

Expected<void> emit_real_dynamic_slice(const OpSite& s) {
  return with_lists(s, "stablehlo.slice", 1, {"start_indices", "limit_indices", "strides"});
}
Expected<void> emit_dynamic_pad(const OpSite& s) {
  return with_lists(s, "stablehlo.pad", 2, {"low", "high", "interior"});
}
Expected<void> emit_dynamic_gather(const OpSite& s) {
  return with_lists(s, "stablehlo.gather", 2, {"slice_sizes"});
}

Expected<void> emit_dimension_size(const OpSite& s) {
  const auto listed = s.op.integers("dimensions");  // in HLO
  const int64_t fallback = listed.size() == 1 ? listed[0] : -1;
  const int64_t dim = s.op.integer_or("dim", s.op.integer_or("dimension", fallback));
  const auto& dims = s.in(0).type.dims;
  if (dim < 0 || static_cast<size_t>(dim) >= dims.size())
    return s.fail("import_c2", fmt::format("there is no dimension {}", dim));
  return s.set(s.emitter.integer(dims[static_cast<size_t>(dim)], s.result_type()));
}

constexpr HandlerRow kDynamicRows[] = {
    {"stablehlo.get_dimension_size", emit_dimension_size},
    {"stablehlo.dynamic_reshape", emit_dynamic_reshape, 2},
    {"stablehlo.dynamic_broadcast_in_dim", emit_dynamic_broadcast, 2},
    {"stablehlo.dynamic_iota", emit_dynamic_iota},
    {"stablehlo.real_dynamic_slice", emit_real_dynamic_slice, 4},
    {"stablehlo.dynamic_pad", emit_dynamic_pad, 5},
    {"stablehlo.dynamic_gather", emit_dynamic_gather, 3},
};

}  // namespace

std::span<const HandlerRow> dynamic_handlers() { return kDynamicRows; }

}  // namespace hostir::importer
