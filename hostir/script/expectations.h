// Checking expectations against the last run.
//
// Each `check` adds complete sentences to the failures; none stops the test. Where `--update` is on
// and the expectation is a number or a text, the edit that makes it true is added as well.
#pragma once

#include <string>
#include <vector>

#include "hostir/script/edits.h"
#include "hostir/script/test_run.h"

namespace hostir::script {

/// What expectations look at and add to.
struct CheckContext {
  const RunContext& run_context;
  const Environment& environment;
  const SourceManager& sources;
  const Statement& statement;
  RunRecord& run;
  std::vector<std::string>& failures;
  std::vector<Edit>& edits;
  int64_t& skipped;  // expectations of values, where the backend computes none

  /// `file:line: message`.
  void fail(const std::string& message) const;
  /// The same, naming the schedule where there are several.
  void fail(const Execution& execution, const std::string& message) const;
  /// True where there are no values to compare; the expectation is counted, it neither holds nor
  /// fails.
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

/// Compares outputs with those of the fusion that the run was written `against`.
void check_against(const Tolerance& tolerance, CheckContext& context);  // expect_unsharded.cpp

/// Errors and faults that nothing expected; called when the next run begins or the test ends.
std::vector<std::string> unexpected_faults(const RunRecord& run, const SourceManager& sources);

/// `tests/x.hir:12`.
std::string position_text(const SourceManager& sources, SourceSpan span);

}  // namespace hostir::script
