// expect_same_as_unsharded, and `run @host(..) against @fusion`.
#include <fmt/core.h>

#include <set>

#include "hostir/script/expectations.h"
#include "interp/session/checks/check_unsharded.h"

namespace hostir::script {
namespace {

interp::RunOptions run_options(const CheckContext& context) {
  interp::RunOptions out;
  out.backend = backend_request(context.run_context.options, *context.run_context.program, 0,
                                context.run.statement->seed);
  return out;
}

// `named`: the faults of earlier schedules, which are not repeated.
void compare_outputs(const std::vector<interp::NamedOutput>& expected, const Tolerance& tolerance,
                     const Execution& execution, CheckContext& context,
                     std::set<std::string>& named) {
  const auto& actual = execution.result.outputs;
  if (const interp::Fault* fault = execution.result.worst()) {
    if (!named.insert(to_error(*fault).message()).second) return;
    return context.fail(execution,
                        fmt::format("nothing to compare with the outputs of @{}: {}",
                                    *context.run.statement->against, to_error(*fault).message()));
  }
  if (actual.size() != expected.size()) {
    return context.fail(execution, fmt::format("{} outputs against {} of @{}", actual.size(),
                                               expected.size(), *context.run.statement->against));
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    if (actual[i].global.extents != expected[i].global.extents) {
      context.fail(execution,
                   fmt::format("output %{} has another shape than %{} of @{}", actual[i].name,
                               expected[i].name, *context.run.statement->against));
      continue;
    }
    const std::string conflict = interp::dtype_conflict(
        actual[i].global.dtype, expected[i].global.dtype, interp::IntegerWidths::kSame);
    if (!conflict.empty()) {
      context.fail(execution, fmt::format("output %{} against @{}: {}", actual[i].name,
                                          *context.run.statement->against, conflict));
      continue;
    }
    const auto found = interp::compare(actual[i].global, expected[i].global, tolerance);
    if (found) {
      context.fail(execution, fmt::format("output %{} against @{} ({}): {}", actual[i].name,
                                          *context.run.statement->against,
                                          interp::describe(tolerance, actual[i].global.dtype),
                                          interp::describe(*found, actual[i].global)));
    }
  }
}

}  // namespace

void check_against(const Tolerance& tolerance, CheckContext& context) {
  if (context.skips_values()) return;
  const auto expected = interp::unsharded_outputs(
      *context.run_context.program, *context.run.statement->against, context.run.prepared->inputs,
      context.run_context.make_backend, run_options(context));
  if (!expected) {
    return context.fail(fmt::format("@{} without shardings: {}", *context.run.statement->against,
                                    expected.error().message()));
  }
  std::set<std::string> named;
  for (const Execution& execution : context.run.executions)
    compare_outputs(*expected, tolerance, execution, context, named);
}

void check(const ExpectSameAsUnsharded& expect, CheckContext& context) {
  if (context.run.error) return;
  if (context.run.statement->against) return check_against(expect.tolerance, context);
  if (context.skips_values()) return;
  const auto report =
      interp::check_unsharded(*context.run.prepared, context.run_context.make_backend,
                              run_options(context), expect.tolerance);
  if (!report) return context.fail("against the unsharded run: " + report.error().message());
  if (report->difference)
    context.fail("differs from the unsharded run: " + report->difference->sentence);
}

}  // namespace hostir::script
