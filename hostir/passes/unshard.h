// The same fusion on one rank: the truth that a sharded run is compared with.
#pragma once

#include <string_view>

#include "hostir/ir/program.h"

namespace hostir {

/// A program with the fusion alone, all shardings dropped and reshards gone (their uses take the
/// operand), under its own name. Values keep their names, but results of reshards do not exist.
/// Errors: `unshard_c1` no fusion of that name.
Expected<Program> unshard(const Program& program, std::string_view fusion);

/// The value that stands for `value` of the fusion in unshard()'s program: itself, or what the
/// reshards that lead to it began with.
ValueId unsharded_value(const Function& fusion, ValueId value);

}  // namespace hostir
