#include "gui/files/text_mark.h"

#include <algorithm>

namespace hostir::gui {

std::vector<TextMark> marks_of(const std::vector<Diagnostic>& diagnostics,
                               const SourceManager& sources, uint32_t file) {
  std::vector<TextMark> marks;
  for (const Diagnostic& d : diagnostics) {
    if (!d.span.valid() || d.span.file != file) continue;
    const LineColumn at = sources.locate(file, d.span.begin);
    if (at.line == 0) continue;
    const size_t length = sources.line(file, at.line).size();
    TextMark mark;
    mark.line = at.line - 1;
    mark.begin = std::min<size_t>(at.column - 1, length);
    mark.end = std::min<size_t>(mark.begin + std::max(1u, d.span.end - d.span.begin), length);
    mark.severity = d.severity;
    mark.message = d.message;
    marks.push_back(std::move(mark));
  }
  return marks;
}

std::vector<TextMark> marks_of(const std::vector<Diagnostic>& diagnostics,
                               const SourceManager& sources) {
  const auto placed = std::find_if(diagnostics.begin(), diagnostics.end(),
                                   [](const Diagnostic& d) { return d.span.valid(); });
  if (placed == diagnostics.end()) return {};
  return marks_of(diagnostics, sources, placed->span.file);
}

}  // namespace hostir::gui
