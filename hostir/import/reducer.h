// Recognises the kind of a reduction by its region.
#pragma once

#include "hostir/import/module.h"
#include "hostir/ir/op_kind.h"

namespace hostir::importer {

enum class ReducerKind : uint8_t { kSum, kProd, kMax, kMin, kAnd, kOr };

/// The kind of a reduce, all_reduce, reduce_scatter or scatter, from `applies` or from a region
/// with one operation on its arguments. nullopt if not recognised.
std::optional<ReducerKind> reducer_of(const ModuleFunction& function, const ModuleOp& op);
/// The kind of a reduce over (values, indices) that computes the extreme with the smallest index:
/// argmax or argmin.
std::optional<ReducerKind> arg_reducer_of(const ModuleFunction& function, const ModuleOp& op);
/// The op that combines two values under this kind.
OpKind combining_op(ReducerKind kind, bool is_bool);

}  // namespace hostir::importer
