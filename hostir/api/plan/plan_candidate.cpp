#include "hostir/api/plan/plan_candidate.h"

#include <fmt/core.h>

#include <algorithm>

namespace hostir::api {

namespace {

Sharding open_sharding(const std::string& mesh, const TensorType& tensor) {
  Sharding sharding = Sharding::replicated(mesh, tensor.shape.size());
  for (DimSharding& dim : sharding.dims) dim.open = true;
  return sharding;
}

}  // namespace

Program with_candidate(Program program, const std::string& fusion, const Mesh& mesh,
                       const Candidate& candidate, const CandidateNames& names) {
  Mesh* own = nullptr;
  for (Mesh& m : program.meshes) {
    if (m.name == mesh.name) own = &m;
  }
  if (own == nullptr) own = &program.add_mesh(mesh);
  own->axes = candidate.axes;
  own->device_ids.clear();
  if (candidate.as_written) return program;
  Function& f = *program.find_function(fusion);
  for (const Parameter& parameter : f.params) {
    Value& value = f.value(parameter.value);
    auto* tensor = std::get_if<TensorType>(&value.type);
    if (tensor == nullptr || names.is_fixed(value.name)) continue;
    tensor->sharding = open_sharding(mesh.name, *tensor);
    for (const PlanCut& cut : candidate.cuts) {
      if (cut.value == names.role(value.name))
        tensor->sharding->dims[cut.dim].axes.push_back({cut.axis});
    }
  }
  for (ResultDecl& result : f.results) {
    auto* tensor = std::get_if<TensorType>(&result.type);
    if (tensor != nullptr && !names.is_fixed(result.name))
      tensor->sharding = open_sharding(mesh.name, *tensor);
  }
  return program;
}

std::string key_of(const Candidate& candidate) {
  std::vector<PlanCut> sorted = candidate.cuts;
  std::sort(sorted.begin(), sorted.end());
  std::string key = axes_text(candidate.axes) + (candidate.as_written ? " as written" : "");
  for (const PlanCut& cut : sorted) key += " " + cut_text(cut);
  return key;
}

std::string cut_text(const PlanCut& cut) {
  return fmt::format("%{}[{}] by {}", cut.value, cut.dim, cut.axis);
}

}  // namespace hostir::api
