// What layouts claim about partial values, checked before anything runs.
//
// A buffer that is `unreduced={tp}` holds one addend per rank. Its layout says so in text order, so
// what an instruction makes of it is known: a collective that combines must combine what the layout
// says is to be combined, over these axes and of this kind; a kernel may use it only linearly, by
// its ops' records; what comes out must be declared as partial as it is. Only contradictions are
// errors: plain `tensor<...>` buffers, groups given as lists, and products over sharded dimensions
// claim nothing that could be contradicted.
#pragma once

#include "hostir/support/expected.h"
#include "interp/core/code.h"

namespace hostir::interp {

/// Errors: `partial_claim`, at the operand.
Expected<void> check_partial_claims(const Code& code);

}  // namespace hostir::interp
