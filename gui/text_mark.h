// Diagnostics as places in a text that a panel can draw: plain values, made where the sources are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir::gui {

/// A stretch of one line, 0-based, in bytes.
struct TextMark {
  size_t line = 0;
  size_t begin = 0;
  size_t end = 0;
  Severity severity = Severity::kError;
  std::string message;
};

/// Those with a place in `file`; a span over several lines marks its first.
std::vector<TextMark> marks_of(const std::vector<Diagnostic>& diagnostics,
                               const SourceManager& sources, uint32_t file);

/// Those in the file of the first one that has a place.
std::vector<TextMark> marks_of(const std::vector<Diagnostic>& diagnostics,
                               const SourceManager& sources);

}  // namespace hostir::gui
