// Scatters that multiply or take the extreme, for which the language has no op.

#include <limits>

#include "hostir/import/ops/indexing.h"

namespace hostir::importer {

namespace {

using Dims = std::vector<int64_t>;

// The largest number of pairs of an update and a place: enough for a test or a small model.
constexpr int64_t kMostCompared = 16'000'000;

}  // namespace

Expected<Known> combined_into(Emitter& e, bool along, const Known& updates, const Known& indices,
                              const Known& base, size_t dim, const std::string& mode) {
  const size_t batch = along ? 1 : indices.type.dims.size();
  Dims wide = updates.type.dims;
  const auto place = static_cast<int64_t>(dim + batch);
  wide.insert(wide.begin() + place, base.type.dims[dim]);
  ModuleType numbers = tensor_type(indices.type.element, wide);
  if (numbers.element_count() < 0 || numbers.element_count() > kMostCompared)
    return fail_at(ErrorKind::kInvalid, "import_c8",
                   "a scatter that neither sets nor adds, of too many updates and places",
                   e.place());
  Dims others;
  Dims at;
  for (size_t d = 0; d < updates.type.dims.size(); ++d) {
    const auto here = static_cast<int64_t>(d < dim + batch ? d : d + 1);
    others.push_back(here);
    if (along || (d >= dim && d < dim + batch)) at.push_back(here);
  }
  Attributes attributes;
  attributes.set("dim", place);
  HOSTIR_ASSIGN_OR_RETURN(const Known row,
                          e.apply(OpKind::iota, {}, std::move(attributes), &numbers));
  HOSTIR_ASSIGN_OR_RETURN(const Known index, e.broadcast(indices, at, wide));
  HOSTIR_ASSIGN_OR_RETURN(const Known here, e.compared(row, index, "eq"));
  HOSTIR_ASSIGN_OR_RETURN(const Known values, e.broadcast(updates, others, wide));
  const DType dtype = *base.type.dtype();
  const double top = is_float(dtype) ? std::numeric_limits<double>::infinity() : 0;
  const Known none = mode == "mul" ? e.number(1, values.type)
                     : is_float(dtype)
                         ? e.number(mode == "max" ? -top : top, values.type)
                         : e.integer(mode == "max" ? least(dtype) : greatest(dtype), values.type);
  HOSTIR_ASSIGN_OR_RETURN(const Known chosen, e.apply(OpKind::select, {here, values, none}));
  Dims reduced;
  for (size_t i = 0; i < batch; ++i) reduced.push_back(static_cast<int64_t>(dim + i));
  const OpKind over = mode == "mul"   ? OpKind::reduce_prod
                      : mode == "max" ? OpKind::reduce_max
                                      : OpKind::reduce_min;
  HOSTIR_ASSIGN_OR_RETURN(const Known all, e.reduced(over, chosen, reduced));
  const OpKind with = mode == "mul"   ? OpKind::mul
                      : mode == "max" ? OpKind::maximum
                                      : OpKind::minimum;
  return e.apply(with, {base, all});
}

}  // namespace hostir::importer
