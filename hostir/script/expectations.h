// Checks expectations against the last run.
//
// Each `check` appends complete messages to the failures; a failure does not stop the test. With
// `--update`, a check of a number or text also adds the edit that makes it pass.
#pragma once

#include <string>
#include <vector>

#include "hostir/script/edits.h"
#include "hostir/script/test_run.h"

namespace hostir::script {

/// Inputs and outputs of the checks.
struct CheckContext {
  const RunContext& run_context;
  const Environment& environment;
  const SourceManager& sources;
  const Statement& statement;
  RunRecord& run;
  std::vector<std::string>& failures;
  std::vector<Edit>& edits;
  int64_t& skipped;  // value expectations under a backend that computes no values

  /// `file:line: message`.
  void fail(const std::string& message) const;
  /// Like the function above, and names the schedule if there are several.
  void fail(const Execution& execution, const std::string& message) const;
  /// True if the backend computes no values; counts the expectation as skipped.
  bool skips_values() const;
  /// Replaces a span of the script when updating.
  void update(SourceSpan span, std::string text) const;
};

void check(const ExpectValue& expect, CheckContext& context);            // expect_value.cpp
void check(const ExpectSharding& expect, CheckContext& context);         // expect_sharding.cpp
void check(const ExpectCollectives& expect, CheckContext& context);      // expect_collectives.cpp
void check(const ExpectNo& expect, CheckContext& context);               // expect_collectives.cpp
void check(const ExpectHappensBefore& expect, CheckContext& context);    // expect_order.cpp
void check(const ExpectSameAsUnsharded& expect, CheckContext& context);  // expect_unsharded.cpp
void check(const ExpectNoLeaks& expect, CheckContext& context);          // expect_fault.cpp
void check(const ExpectError& expect, CheckContext& context);            // expect_fault.cpp
void check(const ExpectDeadlock& expect, CheckContext& context);         // expect_fault.cpp

/// Compares the outputs with those of the run's `against` fusion.
void check_against(const Tolerance& tolerance, CheckContext& context);  // expect_unsharded.cpp

/// Unexpected errors and faults. Called when the next run begins or the test ends.
std::vector<std::string> unexpected_faults(const RunRecord& run, const SourceManager& sources);

/// `tests/x.hir:12`.
std::string position_text(const SourceManager& sources, SourceSpan span);

}  // namespace hostir::script
