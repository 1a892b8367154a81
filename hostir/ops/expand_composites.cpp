#include "hostir/ops/expand_composites.h"

#include <algorithm>

#include "hostir/ops/rebuild.h"

namespace hostir {

namespace {

using Wanted = bool (*)(const OpRecord&);

bool is_wanted(const Instruction& i, Wanted wanted) {
  const OpRecord& op = record(i.kind);
  return op.shape == OpShape::kComposite && (wanted == nullptr || wanted(op));
}

bool has_any(const Function& f, Wanted wanted) {
  const std::vector<InstrId> all = f.preorder();
  return std::any_of(all.begin(), all.end(),
                     [&](InstrId id) { return is_wanted(f.instr(id), wanted); });
}

class Expander {
 public:
  using Selects = std::function<bool(const Instruction&)>;
  using Expands = std::function<std::vector<ValueId>(ops::Builder&)>;

  Expander(const Function& source, const Selects& wanted, const Expands& expand)
      : source_(source), wanted_(wanted), expand_(expand), rebuild_(source) {}

  Expected<Function> run() {
    for (const InstrId id : source_.region(source_.body).instructions) {
      visit(source_.instr(id));
      if (error_) return tl::unexpected(std::move(*error_));
    }
    rebuild_.drop_unused(made_);
    return rebuild_.take();
  }

 private:
  void visit(const Instruction& i) {
    if (error_) return;
    if (!wanted_(i)) {
      rebuild_.copy(i, [this](const Instruction& inner) { visit(inner); });
    } else if (auto done = expand(i); !done) {
      error_ = std::move(done.error());
    }
  }

  Expected<void> expand(const Instruction& i) {
    ops::Builder& b = rebuild_.builder();
    const size_t before = rebuild_.out().instructions.size();
    const size_t first_value = rebuild_.out().values.size();
    b.begin(rebuild_.with_operands(i), source_.value(i.results.front()).name);
    std::vector<ValueId> values = expand_(b);
    if (b.error()) return tl::unexpected(*b.error());
    for (size_t r = 0; r < i.results.size(); ++r) {
      const Value& result = source_.value(i.results[r]);
      values[r] = as_declared(b, values[r], shape_of(result.type));
      const bool taken = std::find(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(r),
                                   values[r]) != values.begin() + static_cast<std::ptrdiff_t>(r);
      // The result needs its own value, even if the expansion returns an existing one.
      if (values[r].index < first_value || taken) {
        values[r] = b.op(OpKind::reshape, {values[r]},
                         ops::attrs({{"shape", ExprList(b.shape(values[r]))}}));
      }
      Value& value = rebuild_.out().value(values[r]);
      value.name = result.name;
      value.span = result.span;
      value.origin = result.origin;
      const Sharding* s = sharding_of(result.type);
      if (s != nullptr && s->dims.size() == shape_of(value.type).size()) {
        std::get<TensorType>(value.type).sharding = *s;
      }
      rebuild_.set(i.results[r], values[r]);
    }
    Function& out = rebuild_.out();
    made_.resize(out.instructions.size(), false);
    std::fill(made_.begin() + static_cast<std::ptrdiff_t>(before), made_.end(), true);
    if (before < out.instructions.size()) {
      out.instructions[before].comments.leading = i.comments.leading;
    }
    return {};
  }

  // A result may have been declared before sizes were known: heads that share keys have a dimension
  // of their own, although there turns out to be one per key. What a ring makes for another one has
  // more dimensions than its declaration.
  static ValueId as_declared(ops::Builder& b, ValueId made, const Shape& declared) {
    const Shape shape = b.shape(made);
    const bool fits =
        shape.size() <= declared.size() && ops::product(shape) == ops::product(declared);
    return fits ? b.reshape(made, declared) : made;
  }

  const Function& source_;
  const Selects& wanted_;
  const Expands& expand_;
  ops::Rebuild rebuild_;
  std::optional<Error> error_;
  std::vector<bool> made_;  // by instruction: true if an expansion added it
};

}  // namespace

Expected<Function> expand_composites(Function fusion, Origins origins, Wanted wanted) {
  if (!has_any(fusion, wanted)) return fusion;
  uint32_t number = 0;
  for (const InstrId id : fusion.region(fusion.body).instructions) {
    Instruction& i = fusion.instr(id);
    ++number;
    if (origins == Origins::kNoted && i.from.empty()) i.from = {{fusion.name, number}};
  }
  while (has_any(fusion, wanted)) {
    HOSTIR_ASSIGN_OR_RETURN(fusion,
                            replace_ops(
                                fusion, [&](const Instruction& i) { return is_wanted(i, wanted); },
                                [](ops::Builder& b) { return record(b.call().kind).expand(b); }));
  }
  return fusion;
}

Expected<Function> replace_ops(const Function& fusion,
                               const std::function<bool(const Instruction&)>& wanted,
                               const std::function<std::vector<ValueId>(ops::Builder&)>& expand) {
  return Expander(fusion, wanted, expand).run();
}

}  // namespace hostir
