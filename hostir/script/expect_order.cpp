// happens_before: the first finishes on every rank before the second starts on any rank.
#include <fmt/core.h>

#include "hostir/script/expectations.h"
#include "hostir/support/lists.h"
#include "interp/session/commands/places.h"

namespace hostir::script {
namespace {

Expected<std::vector<interp::CodeIndex>> codes_of(const std::string& address,
                                                  const RunRecord& run) {
  HOSTIR_ASSIGN_OR_RETURN(const interp::Place place, interp::parse_place(address));
  return interp::find_places(place, *run.prepared->view);
}

// Of all instances of an instruction, the one that finished last and the one that started first.
// Null if it never executed.
struct Instances {
  const RecordedEvent* last = nullptr;
  const RecordedEvent* first = nullptr;
};

Instances instances_of(const Execution& execution, const std::vector<interp::CodeIndex>& codes) {
  Instances out;
  for (const RecordedEvent& e : execution.events->events()) {
    if (!contains(codes, e.code) || e.started_ns < 0) continue;
    if (!out.last || e.finished_ns > out.last->finished_ns) out.last = &e;
    if (!out.first || e.started_ns < out.first->started_ns) out.first = &e;
  }
  return out;
}

}  // namespace

void check(const ExpectHappensBefore& expect, CheckContext& context) {
  if (context.run.error) return;
  const auto first = codes_of(expect.first, context.run);
  const auto second = codes_of(expect.second, context.run);
  if (!first) return context.fail("happens_before: " + first.error().message());
  if (!second) return context.fail("happens_before: " + second.error().message());
  for (const Execution& execution : context.run.executions) {
    const RecordedEvent* last = instances_of(execution, *first).last;
    const RecordedEvent* start = instances_of(execution, *second).first;
    if (!last || !start) {
      context.fail(execution,
                   fmt::format("{} never ran on a stream", !last ? expect.first : expect.second));
    } else if (last->finished_ns > start->started_ns) {
      context.fail(execution, fmt::format("{} finished on rank {} at {} ns, after {} started on "
                                          "rank {} at {} ns",
                                          expect.first, last->rank, last->finished_ns,
                                          expect.second, start->rank, start->started_ns));
    }
  }
}

}  // namespace hostir::script
