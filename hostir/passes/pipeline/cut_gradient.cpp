#include "hostir/passes/pipeline/cut_gradient.h"

#include <algorithm>
#include <set>

#include "hostir/ir/compact.h"
#include "hostir/ir/unique_names.h"
#include "hostir/ops/builder.h"
#include "hostir/passes/prepare/fusion_info.h"
#include "hostir/support/lists.h"

namespace hostir::pipeline {

namespace {

// By instruction: true if it depends on no parameter, so that it is cheaper to recompute than to
// keep.
std::vector<bool> find_constants(const Function& fusion) {
  std::vector<bool> out(fusion.instructions.size(), false);
  for (const InstrId id : body_of(fusion)) {
    const auto& operands = fusion.instr(id).operands;
    out[id.index] = std::all_of(operands.begin(), operands.end(), [&](const Operand& o) {
      if (!o.value.valid()) return true;
      const InstrId by = fusion.value(o.value).defined_by;
      return by.valid() && out[by.index];
    });
  }
  return out;
}

class Cutter {
 public:
  explicit Cutter(const Function& fusion)
      : fusion_(fusion), constant_(find_constants(fusion)), taken_(fusion.instructions.size()) {}

  Part take(const std::vector<ValueId>& wanted) {
    Part part;
    part.results = wanted;
    std::vector<bool> needed(fusion_.values.size(), false);
    for (const ValueId v : wanted) needed[v.index] = true;
    const auto& body = body_of(fusion_);
    for (size_t n = body.size(); n-- > 0;) {
      const Instruction& i = fusion_.instr(body[n]);
      const bool any = std::any_of(i.results.begin(), i.results.end(),
                                   [&](ValueId r) { return needed[r.index]; });
      if (is_terminator(i) || !any || (taken_[body[n].index] && !constant_[body[n].index])) {
        continue;
      }
      part.instructions.push_back(body[n]);
      taken_[body[n].index] = true;
      for (const Operand& o : i.operands) {
        if (o.value.valid()) needed[o.value.index] = true;
      }
      for (const ValueId r : i.results) needed[r.index] = false;  // made here
    }
    std::reverse(part.instructions.begin(), part.instructions.end());
    for (size_t v = 0; v < needed.size(); ++v) {
      if (needed[v]) part.arguments.emplace_back(v);
    }
    return part;
  }

 private:
  const Function& fusion_;
  std::vector<bool> constant_;  // by instruction
  std::vector<bool> taken_;     // by instruction: true if an earlier part has it
};

}  // namespace

std::vector<Part> cut_by_results(const Function& fusion,
                                 std::span<const std::vector<ValueId>> wanted) {
  Cutter cutter(fusion);
  std::vector<Part> parts;
  for (const auto& values : wanted) parts.push_back(cutter.take(values));
  std::vector<bool> is_parameter(fusion.values.size(), false);
  for (const Parameter& p : fusion.params) is_parameter[p.value.index] = true;
  std::vector<bool> used(fusion.values.size(), false);  // by later parts
  for (size_t n = parts.size(); n-- > 0;) {
    std::vector<ValueId>& results = parts[n].results;
    for (const InstrId id : parts[n].instructions) {
      for (const ValueId r : fusion.instr(id).results) {
        if (!used[r.index]) continue;
        used[r.index] = false;
        add_once(results, r);
      }
    }
    for (const ValueId a : parts[n].arguments) {
      if (!is_parameter[a.index]) used[a.index] = true;
    }
  }
  return parts;
}

Function fusion_of(const Function& fusion, const Part& part, const std::string& name,
                   const std::function<Sharding(ValueId)>& layout) {
  Function out;
  out.kind = FunctionKind::kFusion;
  out.name = name;
  out.body = out.add_region();
  UniqueNames names(fusion);
  std::vector<ValueId> now(fusion.values.size());
  const auto placed = [&](ValueId v) {
    TensorType type = std::get<TensorType>(fusion.value(v).type);
    type.sharding = layout(v);
    return type;
  };
  for (const ValueId a : part.arguments) {
    now[a.index] = out.add_value(fusion.value(a).name, placed(a));
    out.params.push_back({now[a.index], false});
  }
  for (const InstrId id : part.instructions) {
    Instruction i = fusion.instr(id);
    i.from.clear();
    for (Operand& o : i.operands) {
      if (o.value.valid()) o.value = now[o.value.index];
    }
    for (ValueId& r : i.results) {
      const Value& value = fusion.value(r);
      r = now[r.index] = out.add_value(value.name, value.type);
    }
    out.add_instruction(out.body, std::move(i));
  }
  Instruction ret;
  ret.kind = OpKind::return_;
  std::set<ValueId> owned;
  for (const Parameter& p : out.params) owned.insert(p.value);
  ops::Builder builder(out, out.body, [&](std::string_view stem) { return names.fresh(stem); });
  for (const ValueId r : part.results) {
    ValueId value = now[r.index];
    if (!owned.insert(value).second) {
      builder.begin(ret, fusion.value(r).name);
      value = builder.scaled(value, 1);
    }
    out.results.push_back({out.value(value).name, placed(r), std::nullopt, {}});
    ret.operands.push_back(Operand{.value = value});
  }
  out.add_instruction(out.body, std::move(ret));
  return compacted(out);
}

}  // namespace hostir::pipeline
