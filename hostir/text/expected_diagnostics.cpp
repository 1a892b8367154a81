#include "hostir/text/expected_diagnostics.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace hostir::text {

namespace {

bool accept(std::string_view& rest, std::string_view prefix) {
  if (rest.substr(0, prefix.size()) != prefix) return false;
  rest.remove_prefix(prefix.size());
  return true;
}

std::optional<Severity> read_severity(std::string_view& rest) {
  if (accept(rest, "error")) return Severity::kError;
  if (accept(rest, "warning")) return Severity::kWarning;
  if (accept(rest, "note")) return Severity::kNote;
  return std::nullopt;
}

std::string_view severity_name(Severity severity) {
  constexpr std::array<std::string_view, 3> kNames = {"error", "warning", "note"};
  return kNames[static_cast<size_t>(severity)];
}

// Reads `@+1` or `@-2`; 0 if absent.
std::optional<int64_t> read_offset(std::string_view& rest) {
  if (!accept(rest, "@")) return 0;
  const bool plus = accept(rest, "+");
  int64_t offset = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), offset);
  if (code != std::errc() || (plus && offset < 0)) return std::nullopt;
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  return offset;
}

// Reads the text after `// expected-`.
std::optional<ExpectedDiagnostic> read_expectation(std::string_view rest, int64_t line) {
  ExpectedDiagnostic out;
  const auto severity = read_severity(rest);
  if (!severity) return std::nullopt;
  out.severity = *severity;
  if (accept(rest, "[")) {
    const size_t close = rest.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    out.id = std::string(rest.substr(0, close));
    rest.remove_prefix(close + 1);
  }
  const auto offset = read_offset(rest);
  if (!offset) return std::nullopt;
  out.line = line + *offset;
  while (accept(rest, " ")) {
  }
  const size_t close = rest.rfind("}}");
  if (!accept(rest, "{{") || close == std::string_view::npos || close < 2) return std::nullopt;
  out.text = std::string(rest.substr(0, close - 2));
  return out;
}

// Reads a caret line `//     ^~~`: only blanks and a caret after the `//`.
std::optional<CaretPin> read_caret(std::string_view line) {
  const size_t slashes = line.find("//");
  const size_t caret = line.find('^');
  if (slashes == std::string_view::npos || caret == std::string_view::npos) return std::nullopt;
  for (size_t i = 0; i < caret; ++i) {
    const bool marker = i == slashes || i == slashes + 1;
    if (!marker && line[i] != ' ') return std::nullopt;
  }
  size_t end = caret + 1;
  while (end < line.size() && line[end] == '~') ++end;
  if (line.find_first_not_of(" \t\r", end) != std::string_view::npos) return std::nullopt;
  return CaretPin{0, static_cast<uint32_t>(caret + 1), static_cast<uint32_t>(end - caret)};
}

int64_t line_of(const SourceManager& sources, const SourceSpan& span) {
  return span.valid() ? static_cast<int64_t>(sources.locate(span.file, span.begin).line) : 0;
}

bool matches(const ExpectedDiagnostic& expected, Severity severity, int64_t line,
             std::string_view id, std::string_view message) {
  return expected.severity == severity && expected.line == line &&
         (expected.id.empty() || expected.id == id) &&
         message.find(expected.text) != std::string_view::npos;
}

class Comparison {
 public:
  Comparison(const SourceManager& sources, uint32_t file, const std::vector<Diagnostic>& found)
      : sources_(sources),
        file_(file),
        found_(found),
        expected_(read_expectations(sources, file)),
        met_(expected_.diagnostics.size(), false) {}

  std::vector<DiagnosticMismatch> run() {
    for (const int64_t line : expected_.malformed) {
      out_.push_back({line, "this expectation cannot be read"});
    }
    for (const Diagnostic& d : found_) compare(d);
    for (size_t i = 0; i < met_.size(); ++i) {
      const ExpectedDiagnostic& e = expected_.diagnostics[i];
      if (met_[i]) continue;
      const std::string id = e.id.empty() ? "" : "[" + e.id + "]";
      out_.push_back({e.line, "expected " + std::string(severity_name(e.severity)) + id + " {{" +
                                  e.text + "}} did not occur"});
    }
    for (const CaretPin& pin : expected_.carets) check_caret(pin);
    return std::move(out_);
  }

 private:
  bool take(Severity severity, int64_t line, std::string_view id, std::string_view message) {
    for (size_t i = 0; i < met_.size(); ++i) {
      if (met_[i] || !matches(expected_.diagnostics[i], severity, line, id, message)) continue;
      met_[i] = true;
      return true;
    }
    return false;
  }

  void compare(const Diagnostic& d) {
    const int64_t line = line_of(sources_, d.span);
    if (!take(d.severity, line, d.id, d.message) && d.severity != Severity::kNote) {
      out_.push_back({line, "unexpected " + std::string(severity_name(d.severity)) + "[" + d.id +
                                "]: " + d.message});
    }
    for (const Note& note : d.notes) {
      take(Severity::kNote, note.span.valid() ? line_of(sources_, note.span) : line, "",
           note.message);
    }
  }

  void check_caret(const CaretPin& pin) {
    const bool there = std::any_of(found_.begin(), found_.end(), [&](const Diagnostic& d) {
      if (line_of(sources_, d.span) != pin.line) return false;
      const uint32_t column = sources_.locate(d.span.file, d.span.begin).column;
      const size_t rest = sources_.line(file_, static_cast<uint32_t>(pin.line)).size() - column + 1;
      const size_t wanted = std::max<size_t>(1, d.span.end - d.span.begin);
      return column == pin.column && std::min(wanted, std::max<size_t>(rest, 1)) == pin.width;
    });
    if (there) return;
    std::string where;
    for (const Diagnostic& d : found_) {
      if (line_of(sources_, d.span) != pin.line) continue;
      where += (where.empty() ? "; it is at column " : ", ") +
               std::to_string(sources_.locate(d.span.file, d.span.begin).column) + " width " +
               std::to_string(d.span.end - d.span.begin);
    }
    out_.push_back({pin.line, "no caret at column " + std::to_string(pin.column) + " width " +
                                  std::to_string(pin.width) + where});
  }

  const SourceManager& sources_;
  uint32_t file_;
  const std::vector<Diagnostic>& found_;
  Expectations expected_;
  std::vector<bool> met_;
  std::vector<DiagnosticMismatch> out_;
};

}  // namespace

Expectations read_expectations(const SourceManager& sources, uint32_t file) {
  Expectations out;
  constexpr std::string_view kMarker = "// expected-";
  int64_t pinned_line = 0;
  const std::string_view text = sources.text(file);
  int64_t number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t stop = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, stop - at);
    ++number;
    at = stop + 1;
    if (auto pin = read_caret(line)) {
      pin->line = pinned_line;
      out.carets.push_back(*pin);
      continue;
    }
    pinned_line = number;
    const size_t marker = line.find(kMarker);
    if (marker == std::string_view::npos) continue;
    auto expected = read_expectation(line.substr(marker + kMarker.size()), number);
    if (expected) {
      out.diagnostics.push_back(std::move(*expected));
    } else {
      out.malformed.push_back(number);
    }
  }
  return out;
}

std::vector<DiagnosticMismatch> check_expected_diagnostics(
    const SourceManager& sources, uint32_t file, const std::vector<Diagnostic>& diagnostics) {
  return Comparison(sources, file, diagnostics).run();
}

}  // namespace hostir::text
