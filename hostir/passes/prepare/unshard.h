// Makes the same fusion for one rank: the reference for checking a sharded run.
#pragma once

#include <string_view>

#include "hostir/ir/program.h"

namespace hostir {

/// A program with only the fusion, under its own name, without shardings. Reshards are replaced by
/// their operands, so their results do not exist. All other values keep their names, and the Origin
/// of each is its number in the given fusion.
/// `fusion` must be one of the program's.
Program unshard(const Program& program, std::string_view fusion);

/// The counterpart of `value` in unshard()'s program: the value itself, or the first operand of the
/// chain of reshards that produces it.
ValueId unsharded_value(const Function& fusion, ValueId value);

}  // namespace hostir
