// Inputs of a run: from names and values to one tensor per parameter.
//
// Tensors bind symbolic sizes; generators get their shape from the sizes afterwards. Files of
// another float width are converted to the parameter's dtype.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/program.h"
#include "interp/session/engine.h"

namespace hostir::interp {

/// Sizes known from the inputs that have extents, and from `given`. Errors: `input_unknown` (a name
/// that is no parameter), `input_twice`, and those of infer_sizes.
Expected<SizeBindings> sizes_from_inputs(const Function& function,
                                         const std::vector<NamedInput>& inputs,
                                         const std::vector<std::pair<std::string, int64_t>>& given);

/// One tensor per tensor parameter, in order, in the parameter's dtype. `function` has its sizes
/// bound. Errors: `input_missing` (all that are, with an example), `input_shape`, `input_dtype`,
/// `input_range`, `input_size` (a size that nothing binds), those of the readers, `cancelled`
/// between two of them.
Expected<std::vector<std::pair<std::string, Tensor>>> input_tensors(
    const Function& function, const std::vector<NamedInput>& inputs,
    const std::string& base_directory, const Preparing& watch = {});

}  // namespace hostir::interp
