// A fault as it is logged.
#pragma once

#include <string>
#include <vector>

#include "interp/core/ids.h"

namespace hostir::interp {

struct FaultRecord {
  std::string kind;      // "deadlock", "collective_mismatch", "race_raw", "leak", ...
  std::string sentence;  // the message shown to the user
  std::vector<Rank> ranks;
  std::vector<std::string> instructions;  // addresses, `@f#9`
  std::vector<std::string> notes;
};

}  // namespace hostir::interp
