#include "hostir/script/test_file.h"

#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <functional>

#include "hostir/import/import.h"
#include "hostir/io/files.h"
#include "hostir/passes/lower.h"
#include "hostir/passes/prepare/bind_sizes.h"
#include "hostir/script/test_piece.h"
#include "hostir/script/update_diagnostics.h"
#include "hostir/support/glob.h"
#include "hostir/text/expected_diagnostics.h"
#include "hostir/text/parse/parser.h"
#include "hostir/text/print/printer.h"

namespace hostir::script {
namespace {

using Failures = std::vector<std::string>;

// The first difference between a printed program and its print-parse-print result.
std::string first_difference(const std::string& a, const std::string& b) {
  size_t line = 1;
  size_t begin = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) && a[i] == b[i]; ++i) {
    if (a[i] != '\n') continue;
    ++line;
    begin = i + 1;
  }
  return fmt::format("line {}: \"{}\" against \"{}\"", line,
                     a.substr(begin, a.find('\n', begin) - begin),
                     b.substr(begin, b.find('\n', begin) - begin));
}

// Checks that print(parse(print(p))) == print(p) and that the programs are equal.
void check_fixpoint(const Program& program, const std::string& what, Failures& failures) {
  const std::string once = text::print(program);
  const auto again = text::parse_program(once);
  if (!again) {
    failures.push_back(
        fmt::format("{} does not parse after printing: {}", what, again.error().message()));
    return;
  }
  const std::string twice = text::print(*again);
  if (once != twice)
    failures.push_back(fmt::format("{} prints differently after parsing the printed text, {}", what,
                                   first_difference(once, twice)));
  else if (!(*again == program))
    failures.push_back(what + " reads back as a different program, though it prints the same");
}

// Checks the compiler phases of a fusion with known sizes. Runs check those of other fusions.
void check_phases(const Program& program, const Function& fusion, Failures& failures) {
  if (fusion.kind != FunctionKind::kFusion || !unbound_sizes(fusion).empty()) return;
  LowerOptions options;
  options.dump = [&](LowerPhase phase, const Program& after) {
    check_fixpoint(after, fmt::format("@{} after {}", fusion.name, name(phase)), failures);
  };
  // If the fusion cannot be lowered, its tests report that.
  if (!lower(program, fusion.name, options)) return;
}

class FileRunner {
 public:
  FileRunner(const std::string& path, const TestOptions& options,
             const interp::BackendFactory& make_backend)
      : path_(path), options_(options), make_backend_(make_backend) {}

  FileResult run() {
    auto text = io::read_text(path_);
    if (!text) {
      add_case("reads", 0, [&](Failures& f) { f.push_back(text.error().message()); });
      return std::move(result_);
    }
    original_ = *text;
    file_ = sources_.add(path_, std::move(*text));
    parsed_ = parse_or_import();
    add_case("diagnostics", 0, [&](Failures& f) { check_diagnostics(f); });
    add_case("prints and reads back", 0, [&](Failures& f) { check_text(f); });
    for (size_t part = 0; part < parsed_.file.parts.size(); ++part) {
      if (parsed_.ok(part)) run_part(parsed_.file.parts[part], parsed_.parts[part]);
    }
    rewrite();
    return std::move(result_);
  }

 private:
  void add_case(const std::string& title, uint32_t line,
                const std::function<void(Failures&)>& body) {
    add_case(title, line, [&](TestCase& out) { body(out.failures); });
  }
  void add_case(const std::string& title, uint32_t line,
                const std::function<void(TestCase&)>& body) {
    const std::string full = path_ + ": " + title;
    const std::string& filter = options_.filter;
    if (!filter.empty() && full.find(filter) == std::string::npos && !glob_match(filter, full) &&
        !glob_match(filter, title))
      return;
    const auto begin = std::chrono::steady_clock::now();
    TestCase out;
    out.file = path_;
    out.title = title;
    out.line = line;
    body(out);
    out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    result_.cases.push_back(std::move(out));
  }

  // Another compiler's module is a file with one part and no tests.
  text::ParsedFile parse_or_import() const {
    const std::string_view text = sources_.text(file_);
    if (importer::language_of(text) == importer::SourceLanguage::kHir)
      return text::parse(sources_, file_);
    text::ParsedFile out;
    auto imported = importer::import_text(sources_, file_);
    if (!imported) {
      out.diagnostics = std::move(imported.error().diagnostics);
      return out;
    }
    out.file.parts.push_back(std::move(imported->program));
    out.parts.push_back({file_, 0, static_cast<uint32_t>(text.size())});
    return out;
  }

  void check_diagnostics(Failures& failures) {
    for (const auto& m : text::check_expected_diagnostics(sources_, file_, parsed_.diagnostics))
      failures.push_back(fmt::format("{}:{}: {}", path_, m.line, m.message));
    if (failures.empty() || options_.update == TestOptions::Update::kNo) return;
    edits_ = diagnostic_edits(sources_, file_, parsed_.diagnostics);
  }

  void check_text(Failures& failures) {
    for (size_t part = 0; part < parsed_.file.parts.size(); ++part) {
      if (!parsed_.ok(part)) continue;
      const Program& program = parsed_.file.parts[part];
      check_fixpoint(program, fmt::format("part {}", part + 1), failures);
      for (const Function& f : program.functions) check_phases(program, f, failures);
    }
  }

  void run_part(const Program& program, SourceSpan part) {
    std::string directory = std::filesystem::path(path_).parent_path().string();
    for (const TestPiece& test : program.tests) {
      const uint32_t line =
          test.span.valid() ? sources_.locate(test.span.file, test.span.begin).line : 0;
      add_case(test.title, line, [&](TestCase& out) {
        PieceResult piece =
            run_piece(test, program, part, sources_, directory, options_, make_backend_);
        out.failures = std::move(piece.failures);
        out.skipped = piece.skipped;
        std::move(piece.edits.begin(), piece.edits.end(), std::back_inserter(edits_));
      });
    }
  }

  void rewrite() {
    if (edits_.empty() || path_ == "-") return;
    const std::string text = apply_edits(original_, edits_);
    if (text == original_) return;
    const auto written = io::write_file(path_, text);
    if (written)
      result_.rewritten = true;
    else
      add_case("update", 0, [&](Failures& f) { f.push_back(written.error().message()); });
  }

  const std::string& path_;
  const TestOptions& options_;
  const interp::BackendFactory& make_backend_;
  SourceManager sources_;
  uint32_t file_ = 0;
  std::string original_;
  text::ParsedFile parsed_;
  std::vector<Edit> edits_;
  FileResult result_;
};

}  // namespace

FileResult run_file(const std::string& path, const TestOptions& options,
                    const interp::BackendFactory& make_backend) {
  return FileRunner(path, options, make_backend).run();
}

}  // namespace hostir::script
