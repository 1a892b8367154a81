// `at %ws[%i, %j]` in a loop of a loop is `at %w[%j]`, with `%w = at %ws[%i]` before the inner
// loop. Then each loop takes elements of stacks by its own variable only, and their cotangents are
// stacked, not added up.
#include <algorithm>

#include "hostir/ops/differentiator.h"
#include "hostir/support/lists.h"

namespace hostir {

namespace {

class ElementHoister {
 public:
  explicit ElementHoister(const Function& source) : source_(source), rebuild_(source) {}

  Expected<Function> run() {
    for (const InstrId id : source_.region(source_.body).instructions) copy(source_.instr(id));
    if (rebuild_.builder().error()) return tl::unexpected(*rebuild_.builder().error());
    return rebuild_.take();
  }

 private:
  // The element by the first indices of an `at`, computed before the loop.
  struct Element {
    ValueId value;
    size_t indices = 0;
  };

  void copy(const Instruction& i) {
    if (!i.regions.empty()) {
      std::vector<std::string> variables;
      note_variables(i, variables);
      hoist_from(i, variables);
    }
    const auto found = elements_.find(&i);
    if (found == elements_.end()) {
      rebuild_.copy(i, [this](const Instruction& inner) { copy(inner); });
      return;
    }
    Instruction rest = i;
    const auto& index = *i.attributes.get<ExprList>("index");
    rest.attributes.set(
        "index",
        ExprList(index.begin() + static_cast<std::ptrdiff_t>(found->second.indices), index.end()));
    const InstrId made = rebuild_.copy(rest);
    rebuild_.out().instr(made).operands.front().value = found->second.value;
  }

  // The variables of a loop and of those in it.
  void note_variables(const Instruction& loop, std::vector<std::string>& out) const {
    const Region& region = source_.region(loop.regions.front());
    out.push_back(source_.value(region.arguments.front()).name);
    for (const InstrId id : region.instructions) {
      if (!source_.instr(id).regions.empty()) note_variables(source_.instr(id), out);
    }
  }

  void hoist_from(const Instruction& loop, const std::vector<std::string>& variables) {
    for (const InstrId id : source_.region(loop.regions.front()).instructions) {
      const Instruction& i = source_.instr(id);
      if (!i.regions.empty()) hoist_from(i, variables);
      if (i.kind != OpKind::at || !rebuild_.at(i.operands.front().value).valid()) continue;
      Element& element = elements_[&i];
      const auto& index = *i.attributes.get<ExprList>("index");
      ExprList first;
      for (size_t d = element.indices; d < index.size() && !mentions_any(index[d], variables); ++d)
        first.push_back(index[d]);
      const bool hoists = !first.empty() && element.indices + first.size() < index.size();
      if (hoists) {
        const ValueId from =
            element.value.valid() ? element.value : rebuild_.at(i.operands.front().value);
        element.indices += first.size();
        element.value = shared_element(i, from, std::move(first));
      }
      if (!element.value.valid()) elements_.erase(&i);
    }
  }

  ValueId shared_element(const Instruction& i, ValueId from, ExprList index) {
    for (const Made& m : made_) {
      if (m.region == rebuild_.region() && m.of == from && m.index == index) return m.element;
    }
    rebuild_.builder().begin(i, rebuild_.out().value(from).name);
    const ValueId element =
        rebuild_.builder().op(OpKind::at, {from}, ops::attrs({{"index", index}}));
    made_.push_back({rebuild_.region(), from, std::move(index), element});
    return element;
  }

  static bool mentions_any(const IndexExpr& e, const std::vector<std::string>& variables) {
    bool found = false;
    e.for_each_leaf([&](const IndexExpr& leaf) {
      found =
          found || (leaf.kind() == IndexExpr::Kind::kName && contains(variables, leaf.symbol()));
    });
    return found;
  }

  const Function& source_;
  ops::Rebuild rebuild_;
  std::map<const Instruction*, Element> elements_;
  struct Made {
    RegionId region;
    ValueId of;
    ExprList index;
    ValueId element;
  };
  std::vector<Made> made_;
};

}  // namespace

Expected<Function> with_elements_by_loop(const Function& fusion) {
  const auto has_several = [](const Instruction& i) {
    const auto* index = i.kind == OpKind::at ? i.attributes.get<ExprList>("index") : nullptr;
    return index != nullptr && index->size() > 1;
  };
  const bool any = std::any_of(fusion.instructions.begin(), fusion.instructions.end(), has_several);
  if (!any) return fusion;
  return ElementHoister(fusion).run();
}

}  // namespace hostir
