// Compares plans by where they place each value.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"

namespace hostir::api {

/// The shardings with numbers for axes, in order of appearance: equal for plans that differ only in
/// the names of axes, in axes that nothing uses, or in one axis split in two that always cut
/// together.
std::string placement_text(const std::vector<MeshAxis>& axes,
                           const std::vector<std::pair<std::string, Sharding>>& shardings);

}  // namespace hostir::api
