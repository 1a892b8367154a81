// The text of a box.
#pragma once

#include <string>

#include "hostir/ir/placement.h"

namespace hostir {

/// `[0:2, 4:8]`: the range of each dimension.
std::string to_string(const Box& box);

}  // namespace hostir
