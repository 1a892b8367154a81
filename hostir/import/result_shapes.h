// Result shapes known to the caller, for modules whose text does not say how results are sharded.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace hostir::importer {

/// The whole shape of a result by its index, if it is known. Empty: none is known.
using ResultShapes = std::function<std::optional<std::vector<int64_t>>(size_t)>;

}  // namespace hostir::importer
