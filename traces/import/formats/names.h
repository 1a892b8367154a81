// Maps names of operations and element types in other tools' files to ours.
#pragma once

#include <optional>
#include <string_view>

#include "hostir/ir/dtype.h"
#include "hostir/ir/op_kind.h"

namespace hostir::traces::import {

/// From torch's (`all_reduce`, `_allgather_base`, `all_reduce_barrier`), torchcomms' or NCCL's
/// (`AllReduce`) name of an operation; nullopt if we have no such op.
std::optional<OpKind> op_of(std::string_view name);
/// From torch's (`Float`), clog's and MLIR's (`f32`) or NCCL's (`ncclFloat32`) name.
std::optional<DType> dtype_of(std::string_view name);
/// The name of torch's scalar type code, as written by early Flight Recorders.
std::string_view scalar_type_name(int64_t code);
/// NCCL's codes of element types and reductions.
std::optional<DType> nccl_dtype(int64_t code);
std::optional<Reduction> nccl_reduction(int64_t code);

}  // namespace hostir::traces::import
