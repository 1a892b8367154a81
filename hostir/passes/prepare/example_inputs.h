// Generated inputs that keep a program's numbers in range.
#pragma once

#include <cstdint>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

/// Values for the parameters of a fusion that nobody gave. Floats are normal; the weights of
/// products are divided by the root of their fan-in, so that results do not grow with the sizes.
/// Integers are 0 to 7: tokens or classes, and an index past its table is defined too. Masks let
/// everything through.
class ExampleInputs {
 public:
  /// `sizes` looks up symbolic sizes; weights of unknown sizes have the deviation 1.
  ExampleInputs(const Program& program, Function fusion, IndexExpr::Lookup sizes);

  ValueSpec operator()(size_t parameter, uint64_t seed) const;

 private:
  int64_t fan_in_of(ValueId value) const;

  const Program& program_;
  Function fusion_;  // without composites
  std::vector<std::vector<InstrId>> uses_;
  IndexExpr::Lookup sizes_;
};

}  // namespace hostir
