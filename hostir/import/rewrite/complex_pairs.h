// Complex numbers as pairs of real ones.
//
// The language has no complex dtype. Before conversion, every complex value of a module becomes two
// real ones, and its operations become operations on these: a parameter or result %x of an entry
// function becomes %x_re and %x_im. An operation without such a form keeps its operands and results
// under the name `... of complex numbers`, and becomes opaque.
#pragma once

#include "hostir/import/emit/emitter.h"

namespace hostir::importer {

/// Rewrites all functions that have complex values. Notes in the report which parameters and
/// results of `entry` are pairs now, and where.
void split_complex(Module& module, const std::string& entry, ImportReport& report);

}  // namespace hostir::importer
