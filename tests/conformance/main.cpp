// Runs every case on every backend, and reports exceptions that are no longer needed.
#include <fnmatch.h>
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cases.h"

namespace hostir::conformance {

const CaseList& all_cases() {
  static const CaseList kCases = [] {
    CaseList cases;
    add_setup_cases(cases);
    add_memory_cases(cases);
    add_kernel_cases(cases);
    add_collective_cases(cases);
    add_transfer_cases(cases);
    add_order_cases(cases);
    add_checkpoint_cases(cases);
    add_summary_cases(cases);
    add_refusal_cases(cases);
    return cases;
  }();
  return kCases;
}

// Printed names of test parameters in failures.
void PrintTo(const BackendUnderTest& backend, std::ostream* out) { *out << backend.name; }
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

namespace {

using Parameters = std::tuple<BackendUnderTest, Case>;

class Conformance : public testing::TestWithParam<Parameters> {};

std::string parameter_name(const testing::TestParamInfo<Parameters>& info) {
  return std::string(std::get<0>(info.param).name) + "_" + std::get<1>(info.param).name;
}

TEST_P(Conformance, Holds) {
  const auto& [backend, one] = GetParam();
  const Exception* exception = exception_for(backend, one.name.c_str());
  if (exception == nullptr) {
    one.check(backend);
    return;
  }
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter caught(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &results);
    one.check(backend);
  }
  for (int i = 0; i < results.size(); ++i) {
    if (results.GetTestPartResult(i).failed()) return;
  }
  ADD_FAILURE() << "stale exception \"" << exception->pattern << "\" (" << exception->reason
                << "): " << one.name << " passes on " << backend.name;
}

INSTANTIATE_TEST_SUITE_P(Backends, Conformance,
                         testing::Combine(testing::ValuesIn(backends().begin(), backends().end()),
                                          testing::ValuesIn(all_cases())),
                         parameter_name);

TEST(Exceptions, NameACase) {
  for (const BackendUnderTest& backend : backends()) {
    for (const Exception& exception : backend.exceptions) {
      const bool names = std::any_of(all_cases().begin(), all_cases().end(), [&](const Case& c) {
        return fnmatch(exception.pattern, c.name.c_str(), 0) == 0;
      });
      EXPECT_TRUE(names) << backend.name << ": stale exception \"" << exception.pattern << "\"";
    }
  }
}

}  // namespace
}  // namespace hostir::conformance

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
