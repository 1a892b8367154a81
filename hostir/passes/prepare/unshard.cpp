#include "hostir/passes/prepare/unshard.h"

#include "hostir/ir/compact.h"
#include "hostir/ops/apply.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

void drop_sharding(Type& type) {
  if (auto* t = std::get_if<TensorType>(&type)) t->sharding.reset();
}

}  // namespace

Program unshard(const Program& program, std::string_view name) {
  Function out = *program.find_function(name);
  for (size_t v = 0; v < out.values.size(); ++v) {
    drop_sharding(out.values[v].type);
    out.values[v].origin.value = ValueId(v);
  }
  for (ResultDecl& r : out.results) drop_sharding(r.type);
  std::vector<ValueId> now;
  for (size_t v = 0; v < out.values.size(); ++v) now.emplace_back(v);
  for (const InstrId id : out.preorder()) {
    Instruction& i = out.instr(id);
    for (Operand& o : i.operands) {
      if (o.value.valid()) o.value = now[o.value.index];
    }
    if (record(i.kind).shape == OpShape::kLayout)
      now[i.results.front().index] = i.operands.front().value;
  }
  for (Region& region : out.regions) {
    std::erase_if(region.instructions,
                  [&](InstrId id) { return record(out.instr(id).kind).shape == OpShape::kLayout; });
  }
  Program result;
  result.add_function(compacted(out));
  ops::add_applied(program, out, result);
  return result;
}

ValueId unsharded_value(const Function& fusion, ValueId value) {
  for (InstrId by = fusion.value(value).defined_by;
       by.valid() && record(fusion.instr(by).kind).shape == OpShape::kLayout;
       by = fusion.value(value).defined_by) {
    value = fusion.instr(by).operands.front().value;
  }
  return value;
}

}  // namespace hostir
