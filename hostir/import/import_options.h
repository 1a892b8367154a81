// What a caller knows about a module beyond its text.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hostir::importer {

/// The whole shape of a result by its index, if it is known. Empty: none is known.
using ResultShapes = std::function<std::optional<std::vector<int64_t>>(size_t)>;

/// The integer that will be given for a scalar argument, by its index in the module and its name,
/// if it is known. Empty: none is known.
using ArgumentValues = std::function<std::optional<int64_t>(size_t, const std::string&)>;

struct ImportOptions {
  ResultShapes shapes;  // of results of HLO
  /// How many passes of a loop to unroll in a fusion if the loop's end depends on data. Unset: as
  /// many as the arguments say, else as many as the condition allows, within limits.
  std::optional<int64_t> loop_passes;
  ArgumentValues arguments;
};

}  // namespace hostir::importer
