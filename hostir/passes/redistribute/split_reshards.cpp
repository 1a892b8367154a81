#include "hostir/passes/redistribute/split_reshards.h"

#include "hostir/ir/compact.h"
#include "hostir/ir/unique_names.h"
#include "hostir/passes/prepare/fusion_info.h"

namespace hostir {

namespace {

class Splitter {
 public:
  Splitter(Resharded in, MeshMoves& moves)
      : in_(std::move(in.function)), moves_(moves), names_(in_) {
    out_.function = with_empty_body(in_);
    for (size_t v = 0; v < in_.values.size(); ++v) now_.emplace_back(v);
  }

  Resharded run() {
    for (const InstrId id : body_of(in_)) {
      Instruction i = std::move(in_.instr(id));
      for (Operand& o : i.operands) {
        if (o.value.valid()) o.value = now_[o.value.index];
      }
      if (i.kind == OpKind::reshard) {
        split(i);
      } else {
        out_.function.add_instruction(out_.function.body, std::move(i));
      }
    }
    return std::move(out_);
  }

 private:
  void split(const Instruction& i) {
    Function& f = out_.function;
    const ValueId result = i.results.front();
    ValueId current = i.operands.front().value;
    const TensorType to = tensor_type(f, result);
    const Sharding& from = *tensor_type(f, current).sharding;
    const auto& steps = moves_.plan(to, from, *to.sharding).steps;
    if (steps.empty()) {
      now_[result.index] = current;
      return;
    }
    for (size_t s = 0; s < steps.size(); ++s) {
      Instruction step = i;
      step.attributes.erase("to");
      step.operands.front().value = current;
      if (s + 1 < steps.size()) {
        TensorType type = to;
        type.sharding = steps[s].to;
        const std::string name = f.value(result).name;  // copied because values are added below
        current =
            f.add_value(names_.fresh(name + "_" + std::string(hostir::name(steps[s].kind))), type);
        f.value(current).origin = f.value(result).origin;
        step.results = {current};
        step.comments = {};
      }
      f.add_instruction(f.body, std::move(step));
    }
  }

  Function in_;
  MeshMoves& moves_;
  Resharded out_;
  UniqueNames names_;
  std::vector<ValueId> now_;  // the replacement of each old value
};

}  // namespace

Resharded split_reshards(Resharded sharded, MeshMoves& moves) {
  return Splitter(std::move(sharded), moves).run();
}

}  // namespace hostir
