#include <fmt/core.h>

#include "interp/core/engine.h"

namespace hostir::interp {

bool execute_assert_(Engine& engine, Step& step);

bool execute_assert_(Engine& engine, Step& step) {
  int64_t holds = 0;
  if (!engine.evaluate(step, step.code.exprs[0], holds)) return false;
  if (holds != 0) return true;
  const Attributes& attributes = engine.code->source(step.index).attributes;
  const auto* message = attributes.get<std::string>("message");
  const auto* condition = attributes.get<IndexExpr>("condition");
  return engine.fault(step, "assert",
                      fmt::format("rank {}: {} failed: {}", step.rank, engine.name_of(step),
                                  message != nullptr ? *message : condition->to_string()));
}

}  // namespace hostir::interp
