// Diagnostics as positions in a text that a panel can draw: plain values, independent of the source
// manager.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir::gui {

/// A range within one line; 0-based, in bytes.
struct TextMark {
  size_t line = 0;
  size_t begin = 0;
  size_t end = 0;
  Severity severity = Severity::kError;
  std::string message;
};

/// Marks of the diagnostics located in `file`. A span over several lines marks only its first line.
std::vector<TextMark> marks_of(const std::vector<Diagnostic>& diagnostics,
                               const SourceManager& sources, uint32_t file);

/// Marks of the diagnostics in the file of the first diagnostic that has a location.
std::vector<TextMark> marks_of(const std::vector<Diagnostic>& diagnostics,
                               const SourceManager& sources);

}  // namespace hostir::gui
