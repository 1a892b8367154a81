// Source positions and diagnostics.
//
// A `SourceSpan` is a half-open byte range in one file of a `SourceManager`. The line and column
// are computed when a diagnostic is printed, so a span takes only 12 bytes. A diagnostic has a
// stable id ("mesh_c2"), which is also used in the op's record and in the name of a negative
// script. Printing never fails, whatever bytes the source contains.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hostir {

struct SourceSpan {
  static constexpr uint32_t kNoFile = 0xffffffffu;
  uint32_t file = kNoFile;
  uint32_t begin = 0;
  uint32_t end = 0;

  bool valid() const { return file != kNoFile; }
  // Comparing programs ignores source positions.
  friend bool operator==(const SourceSpan&, const SourceSpan&) { return true; }
};

enum class Severity { kError, kWarning, kNote };

struct Note {
  std::string message;
  SourceSpan span;
};

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string id;       // constraint id, e.g. "mesh_c2"
  std::string message;  // one sentence without a final period
  SourceSpan span;
  std::vector<Note> notes;
};

struct LineColumn {
  uint32_t line = 0;    // 1-based
  uint32_t column = 0;  // 1-based, in bytes
};

/// Owns the source texts that spans refer to. Adding a file is not thread-safe.
class SourceManager {
 public:
  uint32_t add(std::string name, std::string text);
  std::string_view name(uint32_t file) const;
  std::string_view text(uint32_t file) const;
  LineColumn locate(uint32_t file, uint32_t offset) const;
  /// Line number `line` (1-based) without its newline; empty if out of range.
  std::string_view line(uint32_t file, uint32_t line) const;
  uint32_t size() const { return static_cast<uint32_t>(files_.size()); }

 private:
  struct File {
    std::string name;
    std::string text;
    std::vector<uint32_t> line_starts;
  };
  std::vector<File> files_;
};

enum class Colour { kNever, kAlways };

/// `name:line:col: error[id]: message`, the source line, the caret line, then the notes.
std::string render(const Diagnostic& diagnostic, const SourceManager& sources,
                   Colour colour = Colour::kNever);
std::string render(const std::vector<Diagnostic>& diagnostics, const SourceManager& sources,
                   Colour colour = Colour::kNever);

}  // namespace hostir
