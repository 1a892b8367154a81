#include "kernels/common/bind_kernel.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/axes.h"
#include "hostir/ops/bind_function.h"
#include "hostir/ops/record.h"
#include "kernels/common/kernel_boxes.h"

namespace hostir::kernels {

namespace {

using Placements = std::span<const Placement* const>;

tl::unexpected<Error> bad_size(const Function& kernel, const std::string& what) {
  return fail_at(ErrorKind::kRuntime, "kernel_size",
                 fmt::format("kernel @{}: {}", kernel.name, what), kernel.name_span);
}

// Binds the `?M` of the types to the operand's extents.
Expected<void> bind_sizes(const Function& kernel, ValueId value, const Placement& placement,
                          SizeBindings& sizes) {
  const Value& v = kernel.value(value);
  const Shape& shape = shape_of(v.type);
  if (shape.size() != placement.global.size() || dtype_of(v.type) != placement.dtype) {
    return bad_size(
        kernel,
        fmt::format("%{} is {}, the operand {}", v.name, shape_to_string(shape, dtype_of(v.type)),
                    shape_to_string(Shape(placement.global.begin(), placement.global.end()),
                                    placement.dtype)));
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d].kind() != IndexExpr::Kind::kSize) continue;
    if (sizes.bind(shape[d].symbol(), placement.global[d])) continue;
    return bad_size(kernel, fmt::format("?{} is {}, but %{} makes it {}; sizes are those of "
                                        "whole tensors, not of a rank's part",
                                        shape[d].symbol(), *sizes.find(shape[d].symbol()), v.name,
                                        placement.global[d]));
  }
  return {};
}

Expected<void> check_sizes(const Function& kernel, ValueId value, const Placement& placement,
                           const SizeBindings& sizes) {
  const Value& v = kernel.value(value);
  const Shape& shape = shape_of(v.type);
  for (size_t d = 0; d < shape.size(); ++d) {
    HOSTIR_ASSIGN_OR_RETURN(const int64_t size, shape[d].evaluate(sizes.lookup()));
    if (size == placement.global[d]) continue;
    return bad_size(kernel, fmt::format("dimension {} of %{} is {}, but the operand's is {}", d,
                                        v.name, size, placement.global[d]));
  }
  return {};
}

std::vector<ValueId> parameter_values(const Function& kernel) {
  std::vector<ValueId> out;
  for (const Parameter& p : kernel.params) out.push_back(p.value);
  return out;
}

std::vector<ValueId> result_values(const Function& kernel) {
  std::vector<ValueId> out;
  const Region& body = kernel.region(kernel.body);
  if (body.instructions.empty()) return out;
  for (const Operand& o : kernel.instr(body.instructions.back()).operands) out.push_back(o.value);
  return out;
}

// All types, with numbers for sizes.
Expected<std::vector<Type>> bound_types(const Function& kernel, const SizeBindings& sizes) {
  std::vector<Type> out;
  for (const Value& v : kernel.values) {
    const auto* tensor = std::get_if<TensorType>(&v.type);
    if (tensor == nullptr) return bad_size(kernel, fmt::format("%{} has no type", v.name));
    TensorType type = *tensor;
    for (IndexExpr& size : type.shape) {
      HOSTIR_ASSIGN_OR_RETURN(const int64_t value, size.evaluate(sizes.lookup()));
      size = value;
    }
    out.emplace_back(std::move(type));
  }
  return out;
}

// The kernel with numbers for the sizes in its attributes.
Expected<std::shared_ptr<const Function>> with_bound_attributes(const Function& kernel,
                                                                const SizeBindings& sizes) {
  if (!size_in_attributes(kernel)) return borrowed(kernel);
  auto bound = std::make_shared<Function>(kernel);
  bind_function(*bound, sizes);
  if (const auto name = size_in_attributes(*bound)) {
    return bad_size(kernel, fmt::format("an attribute uses ?{}, which is not a size of any "
                                        "parameter or result; use it in the type of one",
                                        *name));
  }
  for (const Instruction& i : bound->instructions) {
    for (const auto& [name, value] : i.attributes.entries()) {
      if (const auto* e = std::get_if<IndexExpr>(&value)) HOSTIR_TRY(e->evaluate(sizes.lookup()));
      if (const auto* list = std::get_if<ExprList>(&value)) {
        for (const IndexExpr& e : *list) HOSTIR_TRY(e.evaluate(sizes.lookup()));
      }
    }
  }
  return bound;
}

void know(const Box& box, std::vector<std::optional<Range>>& ranges) {
  ranges.resize(box.lo.size());
  for (size_t d = 0; d < ranges.size(); ++d) ranges[d] = Range{box.lo[d], box.hi[d]};
}

// The rank's position in the mesh of a sharding; nullopt if it has none.
std::optional<int64_t> position_in(const Program& program, const Sharding& sharding, int32_t rank) {
  const Mesh* mesh = program.find_mesh(sharding.mesh);
  return mesh == nullptr ? std::nullopt : mesh->position_of(rank);
}

ValueRanges known_ranges(const Program& program, int32_t rank, const std::vector<Type>& types) {
  ValueRanges ranges(types.size());
  for (size_t v = 0; v < types.size(); ++v) {
    const auto& type = std::get<TensorType>(types[v]);
    ranges[v].resize(type.shape.size());
    if (!type.sharding || type.sharding->dims.size() != type.shape.size()) continue;
    const auto position = position_in(program, *type.sharding, rank);
    if (!position) continue;
    know(shard_box(*program.find_mesh(type.sharding->mesh), *type.sharding,
                   *constant_extents(type.shape), *position),
         ranges[v]);
  }
  return ranges;
}

// The results that a reshard makes partial and whose elements are on another rank.
std::vector<bool> identity_only(const Program& program, const Function& kernel, int32_t rank) {
  std::vector<bool> out(kernel.values.size(), false);
  for (const Instruction& instruction : kernel.instructions) {
    if (record(instruction.kind).shape != OpShape::kLayout || instruction.operands.empty())
      continue;
    const Sharding* from = sharding_of(kernel.value(instruction.operands.front().value).type);
    for (const ValueId result : instruction.results) {
      const Sharding* to = sharding_of(kernel.value(result).type);
      if (to == nullptr || !to->is_partial()) continue;
      const auto position = position_in(program, *to, rank);
      if (!position) continue;
      const Mesh& mesh = *program.find_mesh(to->mesh);
      const bool same_mesh = from != nullptr && from->mesh == to->mesh;
      const Sharding before = same_mesh ? *from : Sharding::replicated(to->mesh, to->dims.size());
      out[result.index] = !keeps_elements(mesh, before, *to, *position);
    }
  }
  return out;
}

Placement placed(const TensorType& type, const std::vector<std::optional<Range>>& ranges) {
  Placement p;
  p.dtype = type.dtype;
  p.global = *constant_extents(type.shape);
  p.box = Box::whole(p.global);
  for (size_t d = 0; d < ranges.size(); ++d) {
    if (!ranges[d]) continue;
    p.box.lo[d] = ranges[d]->lo;
    p.box.hi[d] = ranges[d]->hi;
  }
  return p;
}

// The part of a value that a rank holds, as a value of its own.
Placement part_as_whole(const Placement& p) {
  Placement out;
  out.dtype = p.dtype;
  out.global = p.local();
  out.box = Box::whole(out.global);
  out.blocks = p.blocks;
  for (Box& block : out.blocks) {
    for (size_t d = 0; d < block.lo.size(); ++d) {
      block.lo[d] -= p.box.lo[d];
      block.hi[d] -= p.box.lo[d];
    }
  }
  return out;
}

Expected<BoundKernel> bind_global(const Program& program, const Function& kernel, int32_t rank,
                                  Placements parameters, Placements results);

}  // namespace

Expected<BoundKernel> bind_kernel(const Program& program, const Function& kernel, int32_t rank,
                                  Placements parameters, Placements results) {
  if (kernel.rule.empty()) return bind_global(program, kernel, rank, parameters, results);
  std::vector<Placement> parts;
  for (const Placements list : {parameters, results}) {
    for (const Placement* p : list) parts.push_back(part_as_whole(*p));
  }
  std::vector<const Placement*> at;
  for (const Placement& p : parts) at.push_back(&p);
  const Placements all(at);
  auto bound = bind_global(program, kernel, rank, all.first(parameters.size()),
                           all.subspan(parameters.size()));
  if (!bound) {
    for (Diagnostic& d : bound.error().diagnostics) {
      d.notes.push_back({fmt::format("rank {} runs @{} on its parts, as the rule {} says", rank,
                                     kernel.name, kernel.rule),
                         kernel.rule_span});
    }
  }
  return bound;
}

namespace {

Expected<BoundKernel> bind_global(const Program& program, const Function& kernel, int32_t rank,
                                  Placements parameters, Placements results) {
  const std::vector<ValueId> params = parameter_values(kernel);
  const std::vector<ValueId> returned = result_values(kernel);
  if (params.size() != parameters.size() || returned.size() != results.size()) {
    return fail_at(
        ErrorKind::kRuntime, "kernel_operands",
        fmt::format("kernel @{} has {} parameters and {} results; the launch has {} and {}",
                    kernel.name, params.size(), returned.size(), parameters.size(), results.size()),
        kernel.name_span);
  }
  SizeBindings sizes;
  for (size_t i = 0; i < params.size(); ++i) {
    HOSTIR_TRY(bind_sizes(kernel, params[i], *parameters[i], sizes));
  }
  for (size_t i = 0; i < returned.size(); ++i) {
    HOSTIR_TRY(bind_sizes(kernel, returned[i], *results[i], sizes));
  }
  for (size_t i = 0; i < params.size(); ++i) {
    HOSTIR_TRY(check_sizes(kernel, params[i], *parameters[i], sizes));
  }
  for (size_t i = 0; i < returned.size(); ++i) {
    HOSTIR_TRY(check_sizes(kernel, returned[i], *results[i], sizes));
  }
  HOSTIR_ASSIGN_OR_RETURN(const std::vector<Type> types, bound_types(kernel, sizes));
  HOSTIR_ASSIGN_OR_RETURN(auto function, with_bound_attributes(kernel, sizes));
  ValueRanges ranges = known_ranges(program, rank, types);
  for (size_t i = 0; i < returned.size(); ++i) know(results[i]->box, ranges[returned[i].index]);
  for (size_t i = 0; i < params.size(); ++i) know(parameters[i]->box, ranges[params[i].index]);
  HOSTIR_TRY(propagate_ranges(program, *function, types, ranges));

  BoundKernel bound;
  bound.function = std::move(function);
  for (size_t v = 0; v < types.size(); ++v) {
    bound.values.push_back(placed(std::get<TensorType>(types[v]), ranges[v]));
  }
  for (size_t i = 0; i < returned.size(); ++i) bound.values[returned[i].index] = *results[i];
  for (size_t i = 0; i < params.size(); ++i) bound.values[params[i].index] = *parameters[i];
  bound.identity_only = identity_only(program, kernel, rank);
  return bound;
}

}  // namespace

}  // namespace hostir::kernels
