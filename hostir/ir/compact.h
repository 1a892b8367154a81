// Compaction of a function's arenas into text order.
//
// Passes only append to the arenas. Compaction puts values in the order in which the printed text
// names them and drops unused entries, so a function equals its printed and reparsed form.
#pragma once

#include "hostir/ir/program.h"

namespace hostir {

/// The same function with values in order: parameters, then results in preorder. Values without a
/// definition are dropped. `now`: by old id, the new one; invalid for dropped values.
Function compacted(Function function, std::vector<ValueId>* now = nullptr);

/// The same function with its values but without instructions, for a pass that writes new ones.
Function with_empty_body(const Function& function);

}  // namespace hostir
