// The names of operations and element types in other tools' files, and ours.
#pragma once

#include <optional>
#include <string_view>

#include "hostir/ir/dtype.h"
#include "hostir/ir/op_kind.h"

namespace hostir::traces::import {

/// torch's (`all_reduce`, `_allgather_base`, `all_reduce_barrier`), torchcomms', NCCL's
/// (`AllReduce`) name of an operation; nothing where no op of ours does that.
std::optional<OpKind> op_of(std::string_view name);
/// torch's (`Float`), clog's and MLIR's (`f32`), NCCL's (`ncclFloat32`) name.
std::optional<DType> dtype_of(std::string_view name);
/// torch's numbers of scalar types, as early Flight Recorders wrote them.
std::string_view scalar_type_name(int64_t code);
/// NCCL's numbers of element types and reductions.
std::optional<DType> nccl_dtype(int64_t code);
std::optional<Reduction> nccl_reduction(int64_t code);

}  // namespace hostir::traces::import
