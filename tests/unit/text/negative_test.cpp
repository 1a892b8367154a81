// Each rule of the language has a negative script with carets; what `hostir test` checks in them.
#include <set>

#include "hostir/text/expected_diagnostics.h"
#include "hostir/text/verify/verifier.h"
#include "tests/unit/text/corpus.h"

namespace hostir::text {
namespace {

std::vector<DiagnosticMismatch> check(const std::string& name, const std::string& text) {
  SourceManager sources;
  const uint32_t file = sources.add(name, text);
  return check_expected_diagnostics(sources, file, parse(sources, file).diagnostics);
}

TEST(Negative, EveryRuleOfTheTextHasAScriptWithCarets) {
  std::set<std::string_view> ids;
  for (const TextConstraint& rule : text_constraints()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id << " appears twice";
    const std::string path = "tests/scripts/negative/" + std::string(rule.id) + ".hir";
    ASSERT_TRUE(std::filesystem::exists(path)) << path;
    SourceManager sources;
    const Expectations expected = read_expectations(sources, sources.add(path, read_text(path)));
    EXPECT_FALSE(expected.carets.empty()) << path << " pins no caret";
    const bool named = std::any_of(expected.diagnostics.begin(), expected.diagnostics.end(),
                                   [&](const ExpectedDiagnostic& d) { return d.id == rule.id; });
    EXPECT_TRUE(named) << path << " does not expect its own id";
  }
}

TEST(ExpectedDiagnostics, FailWhatIsMissingUnexpectedOrElsewhere) {
  EXPECT_FALSE(check("missing", "// expected-error {{no such thing}}\n").empty());
  EXPECT_FALSE(check("unexpected", "fusion @f(%a: tensor<4xf32>) { bogus %a }\n").empty());
  const std::string body = "fusion @f(%a: tensor<4xf32>) { bogus %a }\n";
  EXPECT_TRUE(check("right", "// expected-error@+1 {{unknown operation}}\n" + body).empty());
  EXPECT_FALSE(check("wrong line", "// expected-error@+2 {{unknown operation}}\n" + body).empty());
  EXPECT_FALSE(check("wrong id", "// expected-error[op_c1]@+1 {{unknown}}\n" + body).empty());
  const std::string caret = "//" + std::string(29, ' ') + "^~~~~\n";
  EXPECT_TRUE(
      check("caret", "// expected-error@+1 {{unknown operation}}\n" + body + caret).empty());
  EXPECT_FALSE(
      check("caret", "// expected-error@+1 {{unknown operation}}\n" + body + "// ^~~\n").empty());
  EXPECT_FALSE(check("malformed", "// expected-error@x {{a}}\n").empty());
}

}  // namespace
}  // namespace hostir::text
