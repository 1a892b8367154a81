#include "interp/sim/proof/expand_kernel.h"

#include "hostir/ops/rebuild.h"

namespace hostir::sim::proof {

namespace {

bool is_expanded(const Program& program, const Function& kernel, const Instruction& i) {
  const OpRecord& op = record(i.kind);
  if (op.expand == nullptr || op.needs_expand == nullptr) return false;
  const std::vector<Type> types = operand_types(kernel, i);
  const std::vector<Type> written = written_types(kernel, i);
  return op.needs_expand({i.kind, types, i.attributes, &i, &kernel, &program, written});
}

}  // namespace

Function expanded_kernel(const Program& program, const Function& kernel,
                         const ops::NamedSizes& sizes) {
  Function bound = kernel;
  for (Value& v : bound.values) v.type = ops::with_sizes(v.type, sizes);
  for (ResultDecl& r : bound.results) r.type = ops::with_sizes(r.type, sizes);
  for (Instruction& i : bound.instructions) i.attributes = ops::with_sizes(i.attributes, sizes);
  ops::Rebuild rebuild(bound, &program);
  ops::Builder& b = rebuild.builder();
  for (const InstrId id : bound.region(bound.body).instructions) {
    const Instruction& i = bound.instr(id);
    if (!is_expanded(program, bound, i)) {
      rebuild.copy(i);
      continue;
    }
    b.begin(rebuild.with_operands(i), bound.value(i.results.front()).name);
    const std::vector<ValueId> made = record(i.kind).expand(b);
    if (b.error()) return bound;
    for (size_t r = 0; r < i.results.size(); ++r) rebuild.set(i.results[r], made[r]);
  }
  return rebuild.take();
}

}  // namespace hostir::sim::proof
