// Test results: one case per test piece, per negative script and per text check.
//
// A failed case lists all its failed expectations, in text order. Reports are printed as text for a
// terminal and as JUnit XML for CI.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hostir::script {

struct TestCase {
  std::string file;
  std::string title;
  uint32_t line = 0;                  // line of the test piece; 0: the whole file
  std::vector<std::string> failures;  // complete messages with position; may span lines
  double seconds = 0;
  int64_t skipped = 0;  // unchecked expectations, see TestReport::skipped()
  bool passed() const { return failures.empty(); }
};

struct TestReport {
  std::vector<TestCase> cases;  // by file, then in text order
  int64_t updated_files = 0;    // rewritten by --update

  int64_t passed() const;
  int64_t failed() const;
  /// Number of value expectations skipped because the backend computes no values.
  int64_t skipped() const;
};

/// Failures first, then `N passed, N failed`.
std::string to_text(const TestReport& report);
/// JUnit XML for CI systems: one <testsuite> per file.
std::string to_junit(const TestReport& report);

}  // namespace hostir::script
