#include "hostir/script/changed_program.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "hostir/support/text.h"
#include "hostir/text/parse/parser.h"

namespace hostir::script {

std::string declarations(const Program& part, SourceSpan span, const SourceManager& sources) {
  const std::string_view text = sources.text(span.file);
  std::string out;
  size_t at = span.begin;
  for (const TestPiece& test : part.tests) {
    out += text.substr(at, text.rfind("test", test.span.begin) - at);
    at = test.span.end;
  }
  return out.append(text.substr(at, span.end - at));
}

Expected<std::string> changed(std::string_view text, const ChangeStatement& change) {
  const std::vector<std::string_view> lines = split(text, '\n');
  const auto same = [](std::string_view line, const std::string& wanted) {
    return trimmed(line) == trimmed(wanted);
  };
  size_t places = 0;
  auto first = lines.end();
  for (auto from = lines.begin();; ++from, ++places) {
    from = std::search(from, lines.end(), change.from.begin(), change.from.end(), same);
    if (from == lines.end()) break;
    first = from;
  }
  if (places != 1) {
    return fail(ErrorKind::kInvalid, "test_change",
                fmt::format("{} of the program have the lines to change; expected 1 place",
                            counted(places, "place")));
  }
  std::string out;
  const auto append = [&](std::string_view line) { out.append(line).push_back('\n'); };
  std::for_each(lines.begin(), first, append);
  std::for_each(change.to.begin(), change.to.end(), append);
  std::for_each(first + static_cast<ptrdiff_t>(change.from.size()), lines.end(), append);
  return out;
}

Expected<Program> changed_program(const std::string& text, const RunStatement& run) {
  HOSTIR_ASSIGN_OR_RETURN(Program program, text::parse_program(text));
  const Function* function = program.find_function(run.function);
  if (function == nullptr || function->params.size() != run.arguments.size()) {
    return fail(ErrorKind::kInvalid, "test_change",
                fmt::format("the changed program has no function @{} with {}", run.function,
                            counted(run.arguments.size(), "parameter")));
  }
  return program;
}

}  // namespace hostir::script
