// A call that a verdict on dumps is about, as plain text: for reports.
#pragma once

#include <cstdint>
#include <string>

namespace hostir::traces::import {

/// A call that the verdict is about, with what each member did there.
struct CallAtFault {
  std::string communicator;  // its name, not its description
  uint64_t sequence = 0;
  bool pair = false;  // a send and its recv
  std::string text;   // `seq 4 on default_pg: ranks 0, 2, 3 all_reduce f32[128], rank 1 ..`
};

}  // namespace hostir::traces::import
