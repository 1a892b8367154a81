// expect_error, expect_deadlock, expect_no_leaks, and unexpected faults.
#include <fmt/format.h>

#include <algorithm>

#include "hostir/script/expectations.h"
#include "hostir/support/lists.h"

namespace hostir::script {
namespace {

constexpr std::string_view kLeak = "leak";

bool says(const interp::Fault& fault, const std::string& text) {
  if (fault.record.sentence.find(text) != std::string::npos) return true;
  for (const std::string& note : fault.record.notes) {
    if (note.find(text) != std::string::npos) return true;
  }
  return false;
}

std::string describe(const interp::Fault& fault) {
  return fmt::format("{}: {}", fault.record.kind, fault.record.sentence);
}

std::string describe(const Error& error) {
  std::string out;
  for (const Diagnostic& d : error.diagnostics)
    out += fmt::format("{}error[{}]: {}", out.empty() ? "" : "\n", d.id, d.message);
  return out;
}

bool error_says(const Error& error, const std::string& id, const std::string& text) {
  for (const Diagnostic& d : error.diagnostics) {
    if (d.id == id && d.message.find(text) != std::string::npos) return true;
  }
  return false;
}

// Replaces the text between `{{` and `}}` in the statement.
void update_text(CheckContext& context, const std::string& text) {
  const SourceSpan span = context.statement.span;
  const std::string_view source =
      context.sources.text(span.file).substr(span.begin, span.end - span.begin);
  const size_t open = source.find("{{");
  const size_t close = source.find("}}");
  if (open == std::string_view::npos || close == std::string_view::npos) return;
  SourceSpan inner = span;
  inner.begin = span.begin + static_cast<uint32_t>(open) + 2;
  inner.end = span.begin + static_cast<uint32_t>(close);
  context.update(inner, text);
}

// Requires a fault with this id and text.
void check_faults(const Execution& execution, const std::string& id, const std::string& text,
                  CheckContext& context) {
  const interp::Fault* same_kind = nullptr;
  bool found = false;
  for (const interp::Fault& fault : execution.result.faults) {
    if (fault.record.kind == id && says(fault, text)) {
      found = true;
    } else if (fault.record.kind == id) {
      same_kind = &fault;
    }
  }
  if (found) return;
  if (same_kind) {
    context.fail(execution, fmt::format("expected {} {{{{{}}}}}\n  it said {}", id, text,
                                        same_kind->record.sentence));
    update_text(context, same_kind->record.sentence);
  } else {
    context.fail(execution, fmt::format("expected {} {{{{{}}}}}, which did not occur", id, text));
  }
}

/// True for faults that only running kernels, or the values they compute, can reveal.
bool needs_values(const std::string& id) {
  return id.starts_with("kernel_") || id == "replicas_differ" || id == "nan_born" ||
         id == "inf_born";
}

void check_error(const std::string& id, const std::string& text, CheckContext& context) {
  context.run.expected_faults.push_back(id);
  if (context.run.error) {
    if (error_says(*context.run.error, id, text)) return;
    context.fail(fmt::format("expected {} {{{{{}}}}}\n  there was {}", id, text,
                             describe(*context.run.error)));
    const Diagnostic& first = context.run.error->diagnostics.front();
    if (first.id == id) update_text(context, first.message);
    return;
  }
  if (needs_values(id) && context.skips_values()) return;
  for (const Execution& execution : context.run.executions)
    check_faults(execution, id, text, context);
}

}  // namespace

void check(const ExpectError& expect, CheckContext& context) {
  check_error(expect.id, expect.text, context);
}

void check(const ExpectDeadlock& expect, CheckContext& context) {
  check_error("deadlock", expect.text, context);
}

void check(const ExpectNoLeaks&, CheckContext& context) {
  for (const Execution& execution : context.run.executions) {
    for (const interp::Fault& fault : execution.result.faults) {
      if (fault.record.kind == kLeak) context.fail(execution, describe(fault));
    }
  }
}

std::vector<std::string> unexpected_faults(const RunRecord& run, const SourceManager& sources) {
  std::vector<std::string> out;
  const std::vector<std::string>& expected = run.expected_faults;
  std::string where = position_text(sources, run.span) + ": ";
  if (!expected.empty())
    where +=
        fmt::format("expected {} and no other error, but there was ", fmt::join(expected, ", "));
  if (run.error && expected.empty())
    out.push_back(fmt::format("{}{}", where, describe(*run.error)));
  // The same fault in several schedules is one message.
  struct Seen {
    std::string message;
    std::string notes;
    std::vector<uint64_t> schedules;
  };
  std::vector<Seen> all;
  for (const Execution& execution : run.executions) {
    for (const interp::Fault& fault : execution.result.faults) {
      if (fault.severity != Severity::kError) continue;
      if (fault.record.kind == kLeak) continue;  // see expect_no_leaks
      if (contains(expected, fault.record.kind)) continue;
      Seen seen{fmt::format("{}{}", where, describe(fault)), {}, {execution.schedule}};
      for (const std::string& note : fault.record.notes) seen.notes += "\n  note: " + note;
      const auto known = std::find_if(all.begin(), all.end(), [&](const Seen& other) {
        return other.message == seen.message && other.notes == seen.notes;
      });
      if (known == all.end()) {
        all.push_back(std::move(seen));
      } else {
        known->schedules.push_back(execution.schedule);
      }
    }
  }
  for (const Seen& seen : all) {
    const std::string schedules =
        run.executions.size() == 1
            ? ""
            : fmt::format(" (schedule{} {})", seen.schedules.size() == 1 ? "" : "s",
                          fmt::join(seen.schedules, ", "));
    out.push_back(seen.message + schedules + seen.notes);
  }
  return out;
}

}  // namespace hostir::script
