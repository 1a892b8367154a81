// Derived comments: what follows from the text but is good to see beside it.
//
// Communicators: the groups of their axes. Distributed buffers: the local extents along each
// dimension, `11|11|10 x 10`. Collectives in straight-line code: sequence number on their
// communicator and bytes per rank (the largest). Nothing is said where sizes are symbolic or
// control flow decides.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "hostir/ops/record.h"

namespace hostir::text {

/// `11|11|10 x 10`, or nullopt where a size is not known.
std::optional<std::string> local_extents_text(const Program& program, const Type& type);

/// Called for the instructions of one function in preorder.
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

  const Program& program_;
  const Function& function_;
  std::map<ValueId, std::optional<int64_t>> sequence_;  // next number; nullopt: not known any more
  int depth_ = 0;
};

}  // namespace hostir::text
