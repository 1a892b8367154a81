#include <fmt/core.h>

#include "hostir/script/expectations.h"
#include "interp/session/prepare/lowering.h"

namespace hostir::script {
namespace {

// Normal form for comparison: merges sub-axes and drops open marks.
Sharding normal(Sharding s, const Program& program) {
  const Mesh* mesh = program.find_mesh(s.mesh);
  for (DimSharding& d : s.dims) {
    d.open = false;
    if (mesh) d.axes = merged_axes(*mesh, d.axes);
  }
  if (mesh) s.unreduced = merged_axes(*mesh, s.unreduced);
  return s;
}

Expected<Function> placed_function(const Program& program, const std::string& name) {
  const Function* f = program.find_function(name);  // verified: it exists
  if (f->kind != FunctionKind::kFusion) return *f;
  return interp::sharded_fusion(program, name);
}

void check_one(const ExpectSharding& expect, const std::string& value, const Program& program,
               const Function& function, CheckContext& context) {
  const auto id = function.find_value(value);
  if (!id) {
    return context.fail(
        fmt::format("expect_sharding: @{} has no value %{}", expect.function, value));
  }
  const Sharding* actual = sharding_of(function.value(*id).type);
  if (!actual) {
    return context.fail(fmt::format("@{} %{} has no sharding, expected {}", expect.function, value,
                                    expect.sharding.to_string()));
  }
  if (normal(*actual, program) == normal(expect.sharding, program)) return;
  const Sharding shown = normal(*actual, program);
  context.fail(fmt::format("@{} %{} is sharded {}, expected {}", expect.function, value,
                           shown.to_string(), expect.sharding.to_string()));
  context.update(expect.sharding.span, shown.to_string());
}

}  // namespace

void check(const ExpectSharding& expect, CheckContext& context) {
  // If the last run was of this fusion, use its program, where all sizes are known.
  const auto& prepared = context.run.prepared;
  const bool ran = prepared && prepared->function == expect.function;
  const Program& program = ran ? *prepared->source : *context.run_context.program;
  const auto function = placed_function(program, expect.function);
  if (!function) return context.fail("expect_sharding: " + function.error().message());
  // A value of a loop has a sharding in each pass.
  std::vector<std::string> names;
  if (ran) names = names_in_passes(prepared->loop_values, expect.value);
  if (names.empty()) names = {expect.value};
  for (const std::string& name : names) check_one(expect, name, program, *function, context);
}

}  // namespace hostir::script
