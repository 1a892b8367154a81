#include "hostir/api/check/check_claims.h"

#include "hostir/api/open/backends.h"
#include "hostir/script/test_piece.h"
#include "hostir/text/parse/parser.h"

namespace hostir::api {

namespace {

constexpr uint64_t kMaxSteps = 5'000'000;  // host instructions per test
constexpr size_t kMaxFailures = 4;         // reported failures

struct Subject {
  bool runs = false;        // the test runs the function
  bool is_skipped = false;  // the test expects a fault or changes the program
};

void look(const std::vector<Statement>& statements, const std::string& function, Subject& out) {
  for (const Statement& s : statements) {
    if (const auto* run = std::get_if<RunStatement>(&s.body)) out.runs |= run->function == function;
    out.is_skipped |= std::holds_alternative<ExpectError>(s.body) ||
                      std::holds_alternative<ExpectDeadlock>(s.body) ||
                      std::holds_alternative<ChangeStatement>(s.body);
    if (const auto* repeat = std::get_if<RepeatStatement>(&s.body))
      look(repeat->body, function, out);
  }
}

}  // namespace

interp::CheckClaims claims_of_tests(std::string file, std::string directory,
                                    interp::BackendRequest backend) {
  return [file = std::move(file), directory = std::move(directory), backend = std::move(backend)](
             const std::string& text, const std::string& function, std::stop_token stop) {
    interp::WhatIfClaims out;
    SourceManager sources;
    const uint32_t id = sources.add(file, text);
    const text::ParsedFile parsed = text::parse(sources, id);
    script::TestOptions options;
    options.max_steps = kMaxSteps;
    options.backend = backend;
    for (size_t i = 0; i < parsed.file.parts.size(); ++i) {
      const Program& part = parsed.file.parts[i];
      if (!part.find_function(function)) continue;
      for (const TestPiece& test : part.tests) {
        Subject subject;
        look(test.statements, function, subject);
        if (!subject.runs || subject.is_skipped || stop.stop_requested()) continue;
        ++out.tests;
        const script::PieceResult result = script::run_piece(
            test, part, parsed.parts[i], sources, directory, options, make_backend_factory());
        if (result.failures.empty()) continue;
        ++out.failed;
        for (const std::string& failure : result.failures) {
          if (out.failures.size() < kMaxFailures)
            out.failures.push_back(failure.substr(0, failure.find('\n')));
        }
      }
      break;
    }
    return out;
  };
}

}  // namespace hostir::api
