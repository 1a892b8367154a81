#include <fmt/core.h>

#include <algorithm>

#include "hostir/ir/attribute.h"
#include "interp/core/engine/engine.h"

namespace hostir::interp {

bool execute_read(Engine& engine, Step& step);

namespace {

// The box of the buffer that is read; nullopt after a fault.
std::optional<Box> box_of(Engine& engine, Step& step, const Placement& placement) {
  const CodeInstruction& code = step.code;
  const Extents local = placement.local();
  Box box = placement.box;
  for (size_t d = 0; d < local.size() && d < code.exprs.size(); ++d) {
    int64_t first = 0;
    int64_t end = local[d];
    if (!engine.operands.evaluate(step, code.exprs[d], first)) return std::nullopt;
    const bool ranges = d < code.more_exprs.size();
    if (!ranges) end = first < INT64_MAX ? first + 1 : first;
    if (ranges && code.more_exprs[d] != kNoExpr &&
        !engine.operands.evaluate(step, code.more_exprs[d], end)) {
      return std::nullopt;
    }
    if (first < 0 || end < first || end > local[d]) {
      const std::string taken =
          ranges ? fmt::format("{}:{}", first, end) : fmt::format("index {}", first);
      engine.faults.fault(step, "out_of_bounds",
                          fmt::format("rank {}: {} takes {} of dimension {}, which has {}",
                                      step.rank, engine.faults.name_of(step), taken, d, local[d]));
      return std::nullopt;
    }
    box.lo[d] += first;
    box.hi[d] = box.lo[d] + (end - first);
  }
  return box;
}

// Puts one integer, a list, or what the reduction makes of them into the registers.
bool store(Engine& engine, Step& step, const Tensor& values) {
  std::vector<int64_t> integers;
  for (int64_t i = 0; i < values.element_count(); ++i) integers.push_back(values.get_int(i));
  const auto* reduction = engine.run.code->source(step.index).attributes.get<Keyword>("reduction");
  if (reduction != nullptr) {
    int64_t all = 0;
    for (const int64_t value : integers) {
      if (reduction->word == "sum" && __builtin_add_overflow(all, value, &all)) {
        return engine.faults.fault(step, "index_error",
                                   fmt::format("rank {}: the sum of {} overflows 64 bits",
                                               step.rank, engine.faults.name_of(step)));
      }
    }
    if (reduction->word != "sum") {
      if (integers.empty()) {
        return engine.faults.fault(step, "index_error",
                                   fmt::format("rank {}: {} of no integers has no {}", step.rank,
                                               engine.faults.name_of(step), reduction->word));
      }
      const auto [least, most] = std::minmax_element(integers.begin(), integers.end());
      all = reduction->word == "min" ? *least : *most;
    }
    integers = {all};
  }
  if (integers.size() != step.code.results.size()) {
    return engine.faults.fault(
        step, "backend",
        fmt::format("rank {}: {} got {} integers, not {}", step.rank, engine.faults.name_of(step),
                    integers.size(), step.code.results.size()));
  }
  for (size_t i = 0; i < integers.size(); ++i) {
    step.rank_state.registers[step.code.results[i]].value = integers[i];
  }
  return true;
}

}  // namespace

// Integers of the local part, after the writes that the host has waited for.
bool execute_read(Engine& engine, Step& step) {
  IssuePlan& plan = engine.operands.plan(step);
  plan.refs[0].access = Access::kRead;
  if (!engine.operands.bind_buffers(step, plan)) return false;
  const BufferRef& ref = plan.refs[0];
  const auto box = box_of(engine, step, *ref.placement);
  if (!box || !engine.buffers.check_host_read(step, ref)) return false;
  if (box->volume() == 0) {
    return store(engine, step, Tensor::zeros(ref.placement->dtype, box->extents()));
  }
  const Expected<Tensor> values = engine.run.backend.read(step.rank, ref, *box);
  if (values && values->element_count() == box->volume()) return store(engine, step, *values);
  return engine.faults.fault(step, "backend",
                             fmt::format("rank {}: {}: {}", step.rank, engine.faults.name_of(step),
                                         values ? "no element" : values.error().message()));
}

}  // namespace hostir::interp
