// expect_output and expect_value.
#include <fmt/core.h>

#include <algorithm>

#include "hostir/io/generate.h"
#include "hostir/ir/inline_value.h"
#include "hostir/script/expectations.h"
#include "hostir/support/lists.h"
#include "hostir/support/text.h"
#include "interp/session/checks/compare.h"
#include "interp/session/commands/places.h"
#include "interp/session/values/assemble.h"

namespace hostir::script {
namespace {

using interp::Rank;
using interp::RecordedVersion;

std::string shape_text(const Tensor& t) { return format_shape_text(t.dtype, t.extents); }

// The expected tensor in the shape of the actual one.
Expected<Tensor> expected_tensor(const ValueSpec& spec, const Tensor& actual,
                                 const CheckContext& context) {
  HOSTIR_ASSIGN_OR_RETURN(const interp::InputValue value,
                          value_of(spec, context.environment, context.run_context.directory));
  if (const auto* tensor = std::get_if<Tensor>(&value)) return *tensor;
  return io::materialise(std::get<ValueSpec>(value), context.run_context.directory, &actual.dtype,
                         &actual.extents);
}

void compare_with(const ExpectValue& expect, const Tensor& actual, const Execution& execution,
                  const std::string& what, CheckContext& context) {
  const auto expected = expected_tensor(expect.expected, actual, context);
  if (!expected) {
    context.fail(execution, what + ": " + expected.error().message());
    return;
  }
  const bool is_inline = expect.expected.kind == ValueSpec::Kind::kInline;
  const std::string new_text = "\"" + format_inline_value(actual) + "\"";
  if (expected->extents != actual.extents) {
    context.fail(execution, fmt::format("{} is {}, expected {}", what, shape_text(actual),
                                        shape_text(*expected)));
    if (is_inline) context.update(expect.expected.span, new_text);
    return;
  }
  const auto widths = is_inline || expect.expected.type ? interp::IntegerWidths::kSame
                                                        : interp::IntegerWidths::kAny;
  const std::string conflict = interp::dtype_conflict(actual.dtype, expected->dtype, widths);
  if (!conflict.empty()) {
    context.fail(execution, what + ": " + conflict);
    if (is_inline) context.update(expect.expected.span, new_text);
    return;
  }
  const auto difference = interp::compare(actual, *expected, expect.tolerance);
  if (!difference) return;
  std::string message =
      fmt::format("{} ({}): {}", what, interp::describe(expect.tolerance, actual.dtype),
                  interp::describe(*difference, actual));
  constexpr int64_t kMaxPrinted = 64;
  if (actual.element_count() <= kMaxPrinted) {
    message += fmt::format("\n  actual   {}\n  expected {}", format_inline_value(actual),
                           format_inline_value(*expected));
  }
  context.fail(execution, message);
  if (is_inline) context.update(expect.expected.span, new_text);
}

void check_output(const ExpectValue& expect, const Execution& execution, CheckContext& context) {
  const auto& outputs = execution.result.outputs;
  const auto found = std::find_if(outputs.begin(), outputs.end(),
                                  [&](const auto& o) { return o.name == expect.point.value; });
  if (found == outputs.end()) {
    std::string names;
    for (const auto& o : outputs) names += (names.empty() ? "%" : ", %") + o.name;
    context.fail(execution, fmt::format("there is no output %{}; outputs: {}", expect.point.value,
                                        names.empty() ? "none, the run did not complete" : names));
    return;
  }
  const std::string what = "output %" + found->name;
  if (!expect.point.rank) return compare_with(expect, found->global, execution, what, context);
  const int64_t rank = *expect.point.rank;
  if (rank < 0 || rank >= static_cast<int64_t>(found->boxes.size())) {
    return context.fail(execution, fmt::format("there is no rank {}", rank));
  }
  compare_with(expect, found->parts[static_cast<size_t>(rank)], execution,
               fmt::format("{} on rank {}", what, rank), context);
}

// The point in a rank's issue order at which the value is read.
struct Window {
  uint64_t limit = UINT64_MAX;  // only writes issued before this count
  bool reached = true;          // the instruction of `before`/`after` was executed
};

Window window_of(const ValuePoint& point, const Execution& execution, Rank rank,
                 const std::vector<interp::CodeIndex>& places) {
  Window out;
  if (!point.before && !point.after) return out;
  for (const interp::RecordedIssue& issue : execution.values->issues(rank)) {
    if (!contains(places, issue.code)) continue;
    if (point.iteration && execution.values->iteration(issue.loop_path) != *point.iteration)
      continue;
    out.limit = point.before ? issue.order : issue.order + 1;
    return out;
  }
  out.reached = false;
  return out;
}

const RecordedVersion* version_at(const ValuePoint& point, const Execution& execution, Rank rank,
                                  uint64_t limit, const std::vector<LoopValue>& loop_values) {
  // In a fusion, the passes of a loop have values of their own.
  std::vector<std::string> names = names_in_passes(
      loop_values, point.value, point.before || point.after ? std::nullopt : point.iteration);
  const bool in_loop = !names.empty();
  if (!in_loop) names = {point.value};
  const RecordedVersion* last = nullptr;
  int64_t n = 0;
  const bool at_instruction = point.before || point.after;
  for (const RecordedVersion& v : execution.values->versions()) {
    if (v.rank != rank || !contains(names, v.name) || v.order >= limit) continue;
    if (!at_instruction && !in_loop && point.iteration &&
        execution.values->iteration(v.loop_path) != *point.iteration)
      continue;
    last = &v;
    if (point.instance && ++n == *point.instance) return last;
  }
  return point.instance && n < *point.instance ? nullptr : last;
}

std::string point_text(const ValuePoint& p) {
  std::string out = "%" + p.value;
  if (p.instance) out += fmt::format("#{}", *p.instance);
  if (p.before) out += " before " + *p.before;
  if (p.after) out += " after " + *p.after;
  if (p.iteration) out += fmt::format(" iteration {}", *p.iteration);
  if (p.rank) out += fmt::format(" on rank {}", *p.rank);
  return out;
}

std::string why_missing(const ValuePoint& point, const RunRecord& run) {
  const interp::Code& code = *run.prepared->code;
  std::vector<std::string> names =
      names_in_passes(run.prepared->loop_values, point.value, point.iteration);
  if (names.empty()) names = {point.value};
  if (std::any_of(names.begin(), names.end(), [&](const std::string& name) {
        return !interp::find_registers(code, name).empty();
      }))
    return "it was never written on that rank";
  if (run.prepared->lowered) {
    return fmt::format(
        "the host function has no such buffer: if it was fused away, write keep(%{}) "
        "after run",
        point.value);
  }
  return fmt::format("@{} has no such buffer", code.entry);
}

// One version per rank, or only that of the requested rank.
Expected<std::vector<const RecordedVersion*>> versions_at(const ExpectValue& expect,
                                                          const Execution& execution,
                                                          const RunRecord& run) {
  std::vector<interp::CodeIndex> places;
  const auto& address = expect.point.before ? expect.point.before : expect.point.after;
  if (address) {
    HOSTIR_ASSIGN_OR_RETURN(const interp::Place place, interp::parse_place(*address));
    HOSTIR_ASSIGN_OR_RETURN(places, interp::find_places(place, *run.prepared->view));
  }
  const Rank ranks = run.prepared->code->rank_count;
  if (expect.point.rank && (*expect.point.rank < 0 || *expect.point.rank >= ranks))
    return fail(ErrorKind::kExpectation, "rank",
                fmt::format("there is no rank {}", *expect.point.rank));
  std::vector<const RecordedVersion*> out;
  for (Rank r = 0; r < ranks; ++r) {
    if (expect.point.rank && *expect.point.rank != r) continue;
    const Window window = window_of(expect.point, execution, r, places);
    if (!window.reached) {
      if (!expect.point.rank) continue;  // a rank outside the sub-mesh
      return fail(ErrorKind::kExpectation, "point",
                  fmt::format("rank {} never executed {}", r, *address));
    }
    const RecordedVersion* v =
        version_at(expect.point, execution, r, window.limit, run.prepared->loop_values);
    if (v) out.push_back(v);
  }
  if (out.empty()) return fail(ErrorKind::kExpectation, "point", why_missing(expect.point, run));
  return out;
}

void check_assembled(const ExpectValue& expect, const Execution& execution,
                     const std::vector<const RecordedVersion*>& versions, const std::string& what,
                     CheckContext& context) {
  std::vector<interp::ShardData> shards;
  for (const RecordedVersion* v : versions)
    shards.push_back({v->rank, v->placement.box, v->data ? &*v->data : nullptr});
  const interp::Assembled whole =
      interp::assemble(*context.run.prepared->program, versions.front()->type, shards);
  if (!whole.missing.empty()) {
    return context.fail(execution, fmt::format("{}: rank {} never completed the write", what,
                                               whole.missing.front()));
  }
  if (whole.disagreement) {
    const auto& d = *whole.disagreement;
    context.fail(execution, fmt::format("{}: ranks {} and {} hold different values at {}", what,
                                        d.first, d.second, index_text(d.index)));
  }
  compare_with(expect, whole.tensor, execution, what, context);
}

void check_point(const ExpectValue& expect, const Execution& execution, CheckContext& context) {
  const std::string what = point_text(expect.point);
  const auto versions = versions_at(expect, execution, context.run);
  if (!versions) return context.fail(execution, what + ": " + versions.error().message());
  if (!expect.point.rank) return check_assembled(expect, execution, *versions, what, context);
  const RecordedVersion& v = *versions->front();
  if (!v.data) return context.fail(execution, what + ": the write never completed");
  compare_with(expect, *v.data, execution, what, context);
}

}  // namespace

void check(const ExpectValue& expect, CheckContext& context) {
  if (context.run.error) return;  // already reported as the error of the run
  if (context.skips_values()) return;
  for (const Execution& execution : context.run.executions) {
    if (expect.output)
      check_output(expect, execution, context);
    else
      check_point(expect, execution, context);
  }
}

}  // namespace hostir::script
