#include "hostir/ops/loops.h"

#include <algorithm>

#include "hostir/ops/rebuild.h"

namespace hostir {

namespace {

constexpr uint8_t kConditionSlot = 1;

class WithoutConditions {
 public:
  explicit WithoutConditions(const Function& source) : source_(source), rebuild_(source) {}

  Expected<Function> run() {
    for (const InstrId id : source_.region(source_.body).instructions) copy(source_.instr(id));
    if (rebuild_.builder().error()) return tl::unexpected(*rebuild_.builder().error());
    return rebuild_.take();
  }

 private:
  void copy(const Instruction& i) {
    const ValueId condition = i.regions.empty() ? ValueId() : condition_of(yield_of(i));
    if (!condition.valid()) {
      rebuild_.copy(i, [this](const Instruction& inner) { copy(inner); });
      return;
    }
    ops::Builder& b = rebuild_.builder();
    b.begin(i, "runs");
    const ValueId start = b.full(DType::kI1, {}, 1);
    const Region& region = source_.region(i.regions.front());
    const InstrId made = rebuild_.copy(i, [&](const Instruction& inner) {
      if (record(inner.kind).role == HostRole::kYield) {
        copy_yield(inner, region);
      } else {
        copy(inner);
      }
    });
    Function& out = rebuild_.out();
    out.region(out.instr(made).regions.front()).arguments.push_back(runs_);
    Operand operand;
    operand.value = start;
    out.instr(made).operands.push_back(operand);
  }

  const Instruction& yield_of(const Instruction& loop) const {
    return source_.instr(source_.region(loop.regions.front()).instructions.back());
  }

  void copy_yield(const Instruction& yield, const Region& region) {
    ops::Builder& b = rebuild_.builder();
    Function& out = rebuild_.out();
    const ValueId runs = out.add_value(rebuild_.names().fresh("runs"), ops::tensor(DType::kI1, {}));
    b.begin(yield, "goes_on");
    const ValueId now =
        b.op(OpKind::logical_and, {runs, rebuild_.at(condition_of(yield))}, {}, "now");
    Instruction made = yield;
    made.operands.clear();
    const std::span<const Operand> values = yielded_values(yield);
    for (size_t c = 0; c < values.size(); ++c) {
      const ValueId after = rebuild_.at(values[c].value);
      const ValueId before = rebuild_.at(region.arguments[c + 1]);
      Operand chosen = values[c];
      chosen.value = b.select(b.broadcast_to(now, b.shape(after)), after, before);
      made.operands.push_back(std::move(chosen));
    }
    Operand last;
    last.value = now;
    made.operands.push_back(std::move(last));
    if (b.error()) return;
    out.add_instruction(rebuild_.region(), std::move(made));
    runs_ = runs;
  }

  const Function& source_;
  ops::Rebuild rebuild_;
  ValueId runs_;  // the last argument of the loop that was copied last
};

}  // namespace

std::span<const Operand> yielded_values(const Instruction& yield) {
  const bool has = condition_of(yield).valid();
  return std::span(yield.operands).first(yield.operands.size() - (has ? 1 : 0));
}

ValueId condition_of(const Instruction& yield) {
  if (record(yield.kind).role != HostRole::kYield || yield.operands.empty()) return {};
  const Operand& last = yield.operands.back();
  return last.slot == kConditionSlot ? last.value : ValueId();
}

bool mentions(const IndexExpr& e, const std::string& name) {
  bool found = false;
  e.for_each_leaf([&](const IndexExpr& leaf) {
    found = found || (leaf.kind() == IndexExpr::Kind::kName && leaf.symbol() == name);
  });
  return found;
}

Type without_sharding(Type type) {
  if (auto* tensor = std::get_if<TensorType>(&type)) tensor->sharding.reset();
  return type;
}

bool has_loops(const Function& fusion) {
  return std::any_of(fusion.instructions.begin(), fusion.instructions.end(),
                     [](const Instruction& i) { return record(i.kind).role == HostRole::kLoop; });
}

Expected<Function> without_conditions(const Function& fusion) {
  const bool any = std::any_of(fusion.instructions.begin(), fusion.instructions.end(),
                               [](const Instruction& i) { return condition_of(i).valid(); });
  if (!any) return fusion;
  return WithoutConditions(fusion).run();
}

}  // namespace hostir
