// Building blocks of OpRecord::expand: appending simpler instructions in place of one.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "hostir/ops/common.h"

namespace hostir::ops {

/// Appends one instruction with one result and returns that. `like` is the instruction that is
/// being expanded: the new one takes over where it came from and its place in the source.
struct NewOp {
  OpKind kind;
  std::vector<ValueId> operands;
  Attributes attributes;
  Type type;
  std::string name;  // of the result, not used in the function yet
};
ValueId append(Function& function, RegionId region, const Instruction& like, NewOp op);

}  // namespace hostir::ops
