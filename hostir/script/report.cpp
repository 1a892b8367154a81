#include "hostir/script/report.h"

#include <fmt/core.h>

#include <algorithm>

#include "hostir/support/markup.h"

namespace hostir::script {
namespace {

std::string junit_case(const TestCase& c) {
  std::string out = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"",
                                escape_markup(c.file), escape_markup(c.title), c.seconds);
  if (c.passed() && c.skipped == 0) return out + "/>\n";
  out += ">\n";
  for (const std::string& failure : c.failures) {
    const std::string first = failure.substr(0, failure.find('\n'));
    out += fmt::format("      <failure message=\"{}\">{}</failure>\n", escape_markup(first),
                       escape_markup(failure));
  }
  if (c.skipped > 0) {
    out +=
        fmt::format("      <system-out>value expectations skipped: {}</system-out>\n", c.skipped);
  }
  return out + "    </testcase>\n";
}

}  // namespace

int64_t TestReport::failed() const {
  return std::count_if(cases.begin(), cases.end(), [](const TestCase& c) { return !c.passed(); });
}

int64_t TestReport::skipped() const {
  int64_t sum = 0;
  for (const TestCase& c : cases) sum += c.skipped;
  return sum;
}

int64_t TestReport::passed() const { return static_cast<int64_t>(cases.size()) - failed(); }

std::string to_text(const TestReport& report) {
  std::string out;
  for (const TestCase& c : report.cases) {
    if (c.passed()) continue;
    out += c.line > 0 ? fmt::format("FAILED {}:{}: {}\n", c.file, c.line, c.title)
                      : fmt::format("FAILED {}: {}\n", c.file, c.title);
    for (const std::string& failure : c.failures) {
      out += "  ";
      for (const char ch : failure) {
        out += ch;
        if (ch == '\n') out += "  ";
      }
      out += "\n";
    }
  }
  if (report.updated_files > 0) out += fmt::format("{} files rewritten\n", report.updated_files);
  if (report.skipped() > 0) {
    out += fmt::format("{} value expectations skipped: the backend computes no values\n",
                       report.skipped());
  }
  return out + fmt::format("{} passed, {} failed\n", report.passed(), report.failed());
}

std::string to_junit(const TestReport& report) {
  std::string out = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{}\" failures=\"{}\">\n",
      report.cases.size(), report.failed());
  for (size_t begin = 0; begin < report.cases.size();) {
    size_t end = begin;
    int64_t failures = 0;
    std::string body;
    for (; end < report.cases.size() && report.cases[end].file == report.cases[begin].file; ++end) {
      body += junit_case(report.cases[end]);
      failures += report.cases[end].passed() ? 0 : 1;
    }
    out += fmt::format("  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\">\n{}  </testsuite>\n",
                       escape_markup(report.cases[begin].file), end - begin, failures, body);
    begin = end;
  }
  return out + "</testsuites>\n";
}

}  // namespace hostir::script
