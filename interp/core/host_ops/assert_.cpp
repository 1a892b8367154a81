#include <fmt/core.h>

#include "interp/core/code/flattener.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_assert_(Engine& engine, Step& step);

bool execute_assert_(Engine& engine, Step& step) {
  int64_t holds = 0;
  if (!engine.operands.evaluate(step, step.code.exprs[0], holds)) return false;
  if (holds != 0) return true;
  const Attributes& attributes = engine.run.code->source(step.index).attributes;
  const auto& condition = *attributes.get<IndexExpr>("condition");
  const std::vector<IndexExpr> named = values_named_in(condition);
  std::string values;
  for (size_t i = 0; i < named.size(); ++i) {
    int64_t value = 0;
    if (!engine.operands.evaluate(step, step.code.more_exprs[i], value)) return false;
    values += fmt::format("{}{} is {}",
                          i == 0                  ? ", where "
                          : i + 1 == named.size() ? " and "
                                                  : ", ",
                          named[i].to_string(), value);
  }
  std::string sentence = fmt::format("rank {}: {} failed: {} does not hold{}", step.rank,
                                     engine.faults.name_of(step), condition.to_string(), values);
  if (const auto* message = attributes.get<std::string>("message")) sentence += ": " + *message;
  return engine.faults.fault(step, "assert", std::move(sentence));
}

}  // namespace hostir::interp
