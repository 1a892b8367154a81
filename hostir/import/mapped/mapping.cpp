// Mapping: a value as the parts of the devices, or as one tensor of all parts.

#include <algorithm>

#include "hostir/import/mapped/mapped_ops.h"

namespace hostir::importer {

namespace {

// The elements of a row-major tensor with index 0 in dimension `d`; nullopt if others differ and
// `must_equal`.
std::optional<Tensor> first_of(const Tensor& x, size_t d, bool must_equal) {
  Extents extents = x.extents;
  int64_t inner = 1;
  for (size_t i = d + 1; i < extents.size(); ++i) inner *= extents[i];
  const int64_t length = extents[d];
  const int64_t outer = length * inner == 0 ? 0 : x.element_count() / (length * inner);
  extents.erase(extents.begin() + static_cast<int64_t>(d));
  Tensor out = Tensor::zeros(x.dtype, extents);
  const size_t width =
      out.element_count() == 0 ? 0 : out.data.size() / static_cast<size_t>(out.element_count());
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const auto at = [&](int64_t j) {
        return x.data.begin() + ((o * length + j) * inner + i) * static_cast<int64_t>(width);
      };
      const auto size = static_cast<int64_t>(width);
      for (int64_t j = 1; must_equal && j < length; ++j) {
        if (!std::equal(at(0), at(0) + size, at(j))) return std::nullopt;
      }
      std::copy(at(0), at(0) + size, out.data.begin() + (o * inner + i) * size);
    }
  }
  return out;
}

}  // namespace

std::vector<int64_t> Mapping::sizes(const AxisPositions& axes) const {
  std::vector<int64_t> out;
  for (const size_t axis : axes) out.push_back(size(axis));
  return out;
}

Known Mapping::whole(const Known& x) const {
  Known out = x;
  const auto lead = sizes(x.lead);
  out.type.dims.insert(out.type.dims.begin(), lead.begin(), lead.end());
  out.lead.clear();
  return out;
}

Known Mapping::part(Known whole, AxisPositions lead, const ModuleType& local) const {
  if (whole.number && whole.splat) {
    whole.value = ValueId();
    lead.clear();
  }
  for (size_t i = lead.size(); whole.number && i-- > 0;) {
    auto first = first_of(*whole.number, i, true);
    if (!first) continue;
    whole.number = std::move(first);
    whole.value = ValueId();
    lead.erase(lead.begin() + static_cast<int64_t>(i));
  }
  whole.type = local;
  whole.lead = std::move(lead);
  return whole;
}

Expected<Known> Mapping::lifted(Emitter& e, const Known& x, const AxisPositions& axes) const {
  if (x.lead == axes) return whole(x);
  std::vector<int64_t> dims;
  for (const size_t axis : x.lead)
    dims.push_back(std::find(axes.begin(), axes.end(), axis) - axes.begin());
  for (size_t d = 0; d < x.type.dims.size(); ++d)
    dims.push_back(static_cast<int64_t>(axes.size() + d));
  std::vector<int64_t> to = sizes(axes);
  to.insert(to.end(), x.type.dims.begin(), x.type.dims.end());
  return e.broadcast(whole(x), dims, std::move(to));
}

Expected<Known> Mapping::first_along(Emitter& e, const Known& x, size_t axis) const {
  const auto found = std::find(x.lead.begin(), x.lead.end(), axis);
  if (found == x.lead.end()) return x;
  const auto d = static_cast<size_t>(found - x.lead.begin());
  AxisPositions lead = x.lead;
  lead.erase(lead.begin() + static_cast<int64_t>(d));
  Known all = whole(x);
  if (all.number) {
    all.number = first_of(*all.number, d, false);
    all.value = ValueId();
    return part(std::move(all), std::move(lead), x.type);
  }
  std::vector<int64_t> limit = all.type.dims;
  limit[d] = 1;
  HOSTIR_ASSIGN_OR_RETURN(const Known first,
                          e.sliced(all, std::vector<int64_t>(limit.size(), 0), limit,
                                   std::vector<int64_t>(limit.size(), 1)));
  limit.erase(limit.begin() + static_cast<int64_t>(d));
  HOSTIR_ASSIGN_OR_RETURN(Known y, e.reshaped(first, limit));
  return part(std::move(y), std::move(lead), x.type);
}

Expected<void> Mapping::annotate(Emitter& e, Known& x) const {
  if (our_mesh_.empty() || x.lead.empty() || x.number) return {};
  HOSTIR_ASSIGN_OR_RETURN(x.value, e.materialise(whole(x)));
  auto& value = e.target().value(x.value);
  auto* type = std::get_if<TensorType>(&value.type);
  if (!value.defined_by.valid() || type == nullptr || type->sharding) return {};
  Sharding sharding = Sharding::replicated(our_mesh_, type->shape.size());
  for (size_t d = 0; d < sharding.dims.size(); ++d) {
    if (d < x.lead.size())
      sharding.dims[d].axes = {AxisRef{mesh_.axes[x.lead[d]].name}};
    else
      sharding.dims[d].open = true;
  }
  type->sharding = std::move(sharding);
  return {};
}

}  // namespace hostir::importer
