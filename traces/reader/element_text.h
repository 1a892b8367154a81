// One element of a tensor's bytes as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/sharding.h"

namespace hostir::traces {

/// The element at a global index of a box whose contents are `data`, row-major; with enough digits
/// to restore f32 exactly. Empty if the data does not contain it.
std::string element_text(DType dtype, const Box& box, const std::vector<int64_t>& element,
                         std::span<const std::byte> data);

}  // namespace hostir::traces
