// Integers that every device computes from its number, as XLA does for the offsets of its slices.
#pragma once

#include <vector>

#include "hostir/import/module.h"

namespace hostir::importer {

/// Elements in row-major order: one row if they are equal on all devices, else one per rank. Empty:
/// not known.
using DeviceNumbers = std::vector<std::vector<int64_t>>;

/// The result of an operation on such numbers; empty if it is another operation, or large.
DeviceNumbers device_numbers(const ModuleFunction& function, const ModuleOp& op,
                             const std::vector<DeviceNumbers>& in, const Mesh& mesh);
/// The axes of the mesh along which a scalar differs, the axis with the largest step first.
std::vector<size_t> axes_that_change(const DeviceNumbers& scalar, const Mesh& mesh);

}  // namespace hostir::importer
