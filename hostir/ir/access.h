// What an operand's access does to its buffer.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

inline bool reads(Access access) { return access == Access::kRead || access == Access::kReadWrite; }
inline bool writes(Access access) {
  return access == Access::kWrite || access == Access::kReadWrite;
}

}  // namespace hostir
