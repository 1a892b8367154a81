#include "hostir/passes/propagate/source_uses.h"

#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

SourceUses::SourceUses(const Function& fusion, const std::vector<bool>& annotated)
    : is_source_(fusion.values.size(), false), place_of_(fusion.values.size(), 0) {
  const auto uses = uses_of(fusion);
  for (const InstrId id : body_of(fusion)) {
    const Instruction& i = fusion.instr(id);
    if (is_terminator(i) || record(i.kind).shape != OpShape::kSource) continue;
    for (const ValueId r : i.results)
      is_source_[r.index] = uses[r.index].size() > 1 && !annotated[r.index];
  }
}

std::vector<size_t> SourceUses::separate(std::vector<PropagationEdge>& edges, size_t next) {
  std::vector<size_t> made;
  for (PropagationEdge& e : edges) {
    for (size_t t = 0; t < e.operand_count; ++t) {
      const size_t value = e.tensors[t];
      if (value >= is_source_.size() || !is_source_[value]) continue;
      size_t& place = place_of_[value];
      if (place == 0) {
        uses_.push_back({value});
        place = uses_.size();
      }
      e.tensors[t] = next + made.size();
      uses_[place - 1].push_back(e.tensors[t]);
      made.push_back(value);
    }
  }
  return made;
}

}  // namespace hostir
