// Code for predictions, in which rank 0 runs on behalf of all ranks.
#pragma once

#include "interp/core/code/code.h"

namespace hostir::interp {

/// Like compile_code(), for lowered code that only rank 0 runs: layout claims are not checked, and
/// packed buffers of other ranks have no blocks. On 1,024 ranks, both would take much longer than
/// the run. Errors: those of compile_code().
Expected<std::shared_ptr<const Code>> compile_for_first_rank(std::shared_ptr<const Program> program,
                                                             const CodeOptions& options);

}  // namespace hostir::interp
