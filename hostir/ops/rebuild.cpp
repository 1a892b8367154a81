#include "hostir/ops/rebuild.h"

#include <utility>

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
      region_(out_.body),
      names_(source),
      builder_(
          out_, out_.body, [this](std::string_view stem) { return names_.fresh(stem); }, program),
      map_(source.values.size()) {
  for (const Parameter& p : source.params) out_.params.push_back({copy_value(p.value), p.inout});
}

ValueId Rebuild::at(ValueId source) const {
  return source.valid() ? map_[source.index] : ValueId();
}

void Rebuild::set(ValueId source, ValueId value) { map_[source.index] = value; }

ValueId Rebuild::copy_value(ValueId source) {
  const Value& value = source_.value(source);
  const ValueId made = out_.add_value(value.name, value.type);
  out_.value(made).span = value.span;
  out_.value(made).origin = value.origin;
  set(source, made);
  return made;
}

Instruction Rebuild::with_operands(const Instruction& source) const {
  Instruction out = source;
  for (Operand& o : out.operands) o.value = at(o.value);
  out.results.clear();
  return out;
}

InstrId Rebuild::copy(const Instruction& source, const Visit& visit) {
  Instruction made = with_operands(source);
  for (RegionId& region : made.regions) region = copy_region(region, visit);
  for (const ValueId r : source.results) made.results.push_back(copy_value(r));
  return out_.add_instruction(region_, std::move(made));
}

RegionId Rebuild::copy_region(RegionId source, const Visit& visit) {
  const RegionId made = out_.add_region();
  for (const ValueId argument : source_.region(source).arguments) {
    const ValueId copied = copy_value(argument);
    out_.region(made).arguments.push_back(copied);
  }
  const RegionId outer = std::exchange(region_, made);
  builder_.set_region(made);
  for (const InstrId id : source_.region(source).instructions) {
    const Instruction& i = source_.instr(id);
    if (visit) {
      visit(i);
    } else {
      copy(i);
    }
  }
  out_.region(made).closing_comments = source_.region(source).closing_comments;
  region_ = outer;
  builder_.set_region(outer);
  return made;
}

void Rebuild::drop_unused(const std::vector<bool>& removable) {
  std::vector<bool> used(out_.values.size(), false);
  drop_unused(out_.body, removable, used);
}

void Rebuild::drop_unused(RegionId region, const std::vector<bool>& removable,
                          std::vector<bool>& used) {
  std::vector<InstrId>& body = out_.region(region).instructions;
  std::vector<InstrId> kept;
  for (size_t n = body.size(); n-- > 0;) {
    const Instruction& i = out_.instr(body[n]);
    bool needed = body[n].index >= removable.size() || !removable[body[n].index];
    needed = needed || i.results.empty();  // yield, return
    for (const ValueId r : i.results) needed = needed || used[r.index];
    if (!needed) continue;
    for (const Operand& o : i.operands) {
      if (o.value.valid()) used[o.value.index] = true;
    }
    for (const RegionId inner : i.regions) drop_unused(inner, removable, used);
    kept.push_back(body[n]);
  }
  body.assign(kept.rbegin(), kept.rend());
}

Function Rebuild::take() { return compacted(std::move(out_)); }

}  // namespace hostir::ops
