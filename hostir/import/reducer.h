// What a reduction's region computes: one of the kinds that have a name, or nothing known.
#pragma once

#include "hostir/import/module.h"
#include "hostir/ir/op_kind.h"

namespace hostir::importer {

enum class ReducerKind : uint8_t { kSum, kProd, kMax, kMin, kAnd, kOr };

/// Of reduce, all_reduce, reduce_scatter, scatter: by `applies` or by a region of one operation on
/// its arguments.
std::optional<ReducerKind> reducer_of(const ModuleFunction& function, const ModuleOp& op);
/// Of a reduce of (values, indices): the extreme with the smallest index, as arg max and arg min
/// are written.
std::optional<ReducerKind> arg_reducer_of(const ModuleFunction& function, const ModuleOp& op);
/// The op that combines two values of a kind.
OpKind combining_op(ReducerKind kind, bool is_bool);

}  // namespace hostir::importer
