// The nesting depth of an instruction in regions and calls, used by "over" and "out".
#pragma once

#include "hostir/ops/record.h"
#include "interp/core/code/code.h"

namespace hostir::interp {

/// Enclosing for, where, group and call instructions.
inline uint32_t nesting(const Code& code, CodeIndex index) {
  uint32_t depth = 0;
  for (CodeIndex i = code.instructions[index].parent; i != kNoCode;
       i = code.instructions[i].parent) {
    ++depth;
  }
  return depth;
}

/// The nearest enclosing loop or call; kNoCode at the top.
inline CodeIndex enclosing_frame(const Code& code, CodeIndex index) {
  CodeIndex i = code.instructions[index].parent;
  for (; i != kNoCode; i = code.instructions[i].parent) {
    const HostRole role = record(code.instructions[i].kind).role;
    if (role == HostRole::kLoop || role == HostRole::kCall) break;
  }
  return i;
}

}  // namespace hostir::interp
