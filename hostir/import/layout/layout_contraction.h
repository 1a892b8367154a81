// The parts of the dimensions of products, convolutions and gathers, from those of their operands.
#pragma once

#include "hostir/import/layout/layout_parts.h"
#include "hostir/import/module.h"

namespace hostir::importer {

/// Batch dimensions keep the axes of the left side, free dimensions those of their side.
std::vector<Parts> contracted(const ModuleOp& op, const std::vector<Parts>& left,
                              const std::vector<Parts>& right, size_t rank);
/// Batch and window dimensions keep the axes of the left side, features those of the right side.
std::vector<Parts> convolved(const ModuleOp& op, const std::vector<Parts>& left,
                             const std::vector<Parts>& right, size_t rank);
/// Offset dimensions that are taken whole keep the axes of the operand, whose dimensions are
/// `dims`; batch dimensions get those of the indices.
std::vector<Parts> gathered(const ModuleOp& op, const std::vector<int64_t>& dims,
                            const std::vector<Parts>& operand, const std::vector<Parts>& indices,
                            size_t rank);

}  // namespace hostir::importer
