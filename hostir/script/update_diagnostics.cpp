#include "hostir/script/update_diagnostics.h"

#include <algorithm>

#include "hostir/text/expected_diagnostics.h"

namespace hostir::script {
namespace {

int64_t line_of(const SourceManager& sources, const Diagnostic& d) {
  return d.span.valid() ? int64_t{sources.locate(d.span.file, d.span.begin).line} : 0;
}

bool matches(const SourceManager& sources, const ExpectedDiagnostic& e, const Diagnostic& d) {
  return e.severity == d.severity && e.line == line_of(sources, d) &&
         d.message.find(e.text) != std::string::npos;
}

}  // namespace

std::vector<Edit> diagnostic_edits(const SourceManager& sources, uint32_t file,
                                   const std::vector<Diagnostic>& diagnostics) {
  std::vector<Edit> out;
  const std::string_view text = sources.text(file);
  const auto expected = text::read_expectations(sources, file).diagnostics;
  for (const ExpectedDiagnostic& e : expected) {
    const auto is_it = [&](const Diagnostic& d) { return matches(sources, e, d); };
    if (std::any_of(diagnostics.begin(), diagnostics.end(), is_it)) continue;
    // A diagnostic on that line that no other comment expects.
    const auto meant = std::find_if(diagnostics.begin(), diagnostics.end(), [&](const auto& d) {
      return d.severity == e.severity && line_of(sources, d) == e.line &&
             std::none_of(expected.begin(), expected.end(), [&](const ExpectedDiagnostic& other) {
               return matches(sources, other, d);
             });
    });
    const size_t at = text.find("{{" + e.text + "}}");
    if (meant == diagnostics.end() || at == std::string_view::npos) continue;
    const auto begin = static_cast<uint32_t>(at + 2);
    out.push_back({begin, begin + static_cast<uint32_t>(e.text.size()), meant->message});
  }
  return out;
}

}  // namespace hostir::script
