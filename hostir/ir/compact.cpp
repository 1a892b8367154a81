#include "hostir/ir/compact.h"

#include <utility>

namespace hostir {

namespace {

class Compactor {
 public:
  explicit Compactor(Function in)
      : values_(std::move(in.values)),
        instructions_(std::move(in.instructions)),
        regions_(std::move(in.regions)),
        out_(std::move(in)),
        map_(values_.size()) {
    out_.values.clear();
    out_.values.reserve(values_.size());
    out_.instructions.clear();
    out_.instructions.reserve(instructions_.size());
    out_.regions.clear();
  }

  Function run(std::vector<ValueId>* now) {
    for (Parameter& p : out_.params) p.value = value(p.value);
    if (out_.body.valid()) out_.body = region(out_.body);
    if (now != nullptr) *now = std::move(map_);
    return std::move(out_);
  }

 private:
  ValueId value(ValueId old) {
    if (!old.valid()) return old;
    ValueId& mapped = map_[old.index];
    if (!mapped.valid()) {
      Value& moved = values_[old.index];
      moved.defined_by = InstrId();
      out_.values.push_back(std::move(moved));
      mapped = ValueId(out_.values.size() - 1);
    }
    return mapped;
  }

  RegionId region(RegionId old) {
    const RegionId made = out_.add_region();
    std::vector<ValueId> arguments;
    Region& from = regions_[old.index];
    for (const ValueId a : from.arguments) arguments.push_back(value(a));
    out_.region(made).arguments = std::move(arguments);
    out_.region(made).closing_comments = std::move(from.closing_comments);
    for (const InstrId id : from.instructions) {
      Instruction moved = std::move(instructions_[id.index]);
      for (Operand& o : moved.operands) o.value = value(o.value);
      // As the parser does: an instruction and its results come after its regions.
      for (RegionId& r : moved.regions) r = region(r);
      for (ValueId& r : moved.results) r = value(r);
      out_.add_instruction(made, std::move(moved));
    }
    return made;
  }

  std::vector<Value> values_;
  std::vector<Instruction> instructions_;
  std::vector<Region> regions_;
  Function out_;
  std::vector<ValueId> map_;
};

}  // namespace

Function compacted(Function function, std::vector<ValueId>* now) {
  return Compactor(std::move(function)).run(now);
}

Function with_empty_body(const Function& function) {
  Function out;
  out.kind = function.kind;
  out.name = function.name;
  out.mesh = function.mesh;
  out.params = function.params;
  out.results = function.results;
  out.rule = function.rule;
  out.documentation = function.documentation;
  out.comments = function.comments;
  out.span = function.span;
  out.name_span = function.name_span;
  out.values = function.values;
  out.body = out.add_region();
  out.region(out.body).closing_comments = function.region(function.body).closing_comments;
  return out;
}

}  // namespace hostir
