// Writes out the loops of a fusion, pass by pass.
//
//   1. Where a loop has a condition, its passes keep what they were given once it is false.
//   2. The bounds of a loop are numbers once sizes are bound. Each pass gets a copy of the region
//      in which the loop variable is a number.
//   3. %v of the pass with index 3 is %v.3; in a loop of a loop, %v.0.3. A carried value is the one
//      that the pass before it yielded.
//   4. A stacked result is one concat, unless only its elements are used: `at %ys[3]` is then the
//      value that pass 3 yielded.
//   5. Where a loop adds to a carried value that starts as 0, the first pass adds nothing.
// No host instruction repeats: each pass may be cut, fused and overlapped differently. Values of a
// loop keep their spans, so a pass is found by its line in the text.
#pragma once

#include <string>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/support/expected.h"

namespace hostir {

/// What a value of the text is in the fusion without loops. Names are without '%'.
struct LoopValue {
  std::string value;
  std::vector<int64_t> pass;  // the index of each loop around it, the outermost first
  std::string name;
};

struct Unrolled {
  Function function;
  std::vector<LoopValue> values;  // every value of every pass, then the results of the loops
};

/// Errors: `loop_size` the number of passes is not known, or there would be too many instructions.
Expected<Unrolled> unroll_loops(const Function& fusion);

/// The names of a value in the fusion without loops: in all passes, or in those of the innermost
/// loop with this index. Empty: no value of a loop has this name.
std::vector<std::string> names_in_passes(const std::vector<LoopValue>& values,
                                         const std::string& value,
                                         std::optional<int64_t> index = std::nullopt);

}  // namespace hostir
