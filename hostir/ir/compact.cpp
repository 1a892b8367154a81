#include "hostir/ir/compact.h"

namespace hostir {

namespace {

class Compactor {
 public:
  explicit Compactor(const Function& in) : in_(in), map_(in.values.size()) {}

  Function run() {
    out_ = in_;
    out_.values.clear();
    out_.instructions.clear();
    out_.regions.clear();
    for (Parameter& p : out_.params) p.value = value(p.value);
    out_.body = RegionId();
    if (in_.body.valid()) out_.body = region(in_.body);
    return std::move(out_);
  }

 private:
  ValueId value(ValueId old) {
    if (!old.valid()) return old;
    ValueId& mapped = map_[old.index];
    if (!mapped.valid()) {
      Value copy = in_.value(old);
      copy.defined_by = InstrId();
      out_.values.push_back(std::move(copy));
      mapped = ValueId(out_.values.size() - 1);
    }
    return mapped;
  }

  RegionId region(RegionId old) {
    const RegionId made = out_.add_region();
    std::vector<ValueId> arguments;
    for (const ValueId a : in_.region(old).arguments) arguments.push_back(value(a));
    out_.region(made).arguments = std::move(arguments);
    out_.region(made).closing_comments = in_.region(old).closing_comments;
    for (const InstrId id : in_.region(old).instructions) {
      Instruction copy = in_.instr(id);
      for (Operand& o : copy.operands) o.value = value(o.value);
      // As the parser does: an instruction and its results come after its regions.
      for (RegionId& r : copy.regions) r = region(r);
      for (ValueId& r : copy.results) r = value(r);
      out_.add_instruction(made, std::move(copy));
    }
    return made;
  }

  const Function& in_;
  Function out_;
  std::vector<ValueId> map_;
};

}  // namespace

Function compacted(const Function& function) { return Compactor(function).run(); }

Function with_empty_body(const Function& function) {
  Function out = function;
  out.instructions.clear();
  out.regions.clear();
  out.body = out.add_region();
  out.region(out.body).closing_comments = function.region(function.body).closing_comments;
  return out;
}

}  // namespace hostir
