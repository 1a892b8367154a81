#include "hostir/ops/rebuild.h"

#include "hostir/ir/compact.h"

namespace hostir::ops {

namespace {

Function signature_of(const Function& source) {
  Function out;
  out.kind = source.kind;
  out.name = source.name;
  out.mesh = source.mesh;
  out.results = source.results;
  out.documentation = source.documentation;
  out.comments = source.comments;
  out.span = source.span;
  out.name_span = source.name_span;
  out.body = out.add_region();
  out.regions[out.body.index].closing_comments = source.region(source.body).closing_comments;
  return out;
}

}  // namespace

Rebuild::Rebuild(const Function& source, const Program* program)
    : source_(source),
      out_(signature_of(source)),
      names_(source),
      builder_(
          out_, out_.body, [this](std::string_view stem) { return names_.fresh(stem); }, program),
      map_(source.values.size()) {
  for (const Parameter& p : source.params) {
    const Value& value = source.value(p.value);
    const ValueId made = out_.add_value(value.name, value.type);
    out_.value(made).span = value.span;
    out_.params.push_back({made, p.inout});
    set(p.value, made);
  }
}

ValueId Rebuild::at(ValueId source) const {
  return source.valid() ? map_[source.index] : ValueId();
}

void Rebuild::set(ValueId source, ValueId value) { map_[source.index] = value; }

Instruction Rebuild::with_operands(const Instruction& source) const {
  Instruction out = source;
  for (Operand& o : out.operands) o.value = at(o.value);
  out.results.clear();
  return out;
}

InstrId Rebuild::copy(const Instruction& source) {
  Instruction made = with_operands(source);
  for (const ValueId r : source.results) {
    const Value& value = source_.value(r);
    const ValueId result = out_.add_value(value.name, value.type);
    out_.value(result).span = value.span;
    made.results.push_back(result);
    set(r, result);
  }
  return out_.add_instruction(out_.body, std::move(made));
}

void Rebuild::drop_unused(const std::vector<bool>& removable) {
  std::vector<bool> used(out_.values.size(), false);
  std::vector<InstrId>& body = out_.regions[out_.body.index].instructions;
  std::vector<InstrId> kept;
  for (size_t n = body.size(); n-- > 0;) {
    const Instruction& i = out_.instr(body[n]);
    bool needed = body[n].index >= removable.size() || !removable[body[n].index];
    for (const ValueId r : i.results) needed = needed || used[r.index];
    if (!needed) continue;
    for (const Operand& o : i.operands) {
      if (o.value.valid()) used[o.value.index] = true;
    }
    kept.push_back(body[n]);
  }
  body.assign(kept.rbegin(), kept.rend());
}

Function Rebuild::take() { return compacted(std::move(out_)); }

}  // namespace hostir::ops
