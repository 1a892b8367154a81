// Derived comments: useful facts that follow from the program text.
//
// A communicator shows the groups of its axes. A distributed buffer shows its local extents along
// each dimension, `11|11|10 x 10`, and so does a tensor whose sizes depend on the rank. A
// collective in straight-line code shows its sequence number on the communicator and its bytes per
// rank (the largest). There is no comment if sizes are symbolic or the result depends on control
// flow.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "hostir/ops/record.h"

namespace hostir::text {

/// Call comment() for the instructions of one function in preorder.
class Derived {
 public:
  Derived(const Program& program, const Function& function)
      : program_(program), function_(function) {}

  /// The comment without `//=`, or empty.
  std::string comment(const Instruction& instruction);
  void enter_region() { ++depth_; }
  void leave_region() { --depth_; }

 private:
  std::string collective(const Instruction& instruction);
  std::string groups(const Instruction& instruction) const;
  /// `11|11|10 x 10`; nullopt if a size is unknown, or if the sizes of a tensor do not depend on
  /// the rank.
  std::optional<std::string> local_extents(const Type& type) const;
  std::optional<std::string> extents_by_rank(const Shape& shape) const;

  const Program& program_;
  const Function& function_;
  std::map<ValueId, std::optional<int64_t>> sequence_;  // next number; nullopt: no longer known
  int depth_ = 0;
};

}  // namespace hostir::text
