// What running scripts gave: one case per test piece, per negative script, per text check.
//
// A case fails with every expectation that failed, in the order of the text. Reports print as lines
// for a terminal and as a JUnit file for CI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostir::script {

struct TestCase {
  std::string file;
  std::string title;
  uint32_t line = 0;                  // of the test piece; 0: the whole file
  std::vector<std::string> failures;  // each complete, with position; may have several lines
  double seconds = 0;
  int64_t skipped = 0;  // expectations that could not be checked, see TestReport
  bool passed() const { return failures.empty(); }
};

struct TestReport {
  std::vector<TestCase> cases;  // files in order, cases in the order of the text
  int64_t updated_files = 0;    // rewritten by --update

  int64_t passed() const;
  int64_t failed() const;
  /// Expectations of values under a backend that computes none.
  int64_t skipped() const;
};

/// Failures first, then `N passed, N failed`.
std::string to_text(const TestReport& report);
/// The JUnit format that CI systems read: one <testsuite> per file.
std::string to_junit(const TestReport& report);

}  // namespace hostir::script
