// Inputs of a run: makes one tensor per parameter from names and values.
//
// Tensors bind symbolic sizes; generators then get their shapes from the sizes. Files of another
// float width are converted to the parameter's dtype.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/program.h"
#include "interp/session/prepare/prepared_run.h"

namespace hostir::interp {

/// Sizes from `given` and from the inputs that have extents.
/// Errors: `input_unknown` (not a parameter name), `input_twice`, and those of infer_sizes.
Expected<SizeBindings> sizes_from_inputs(const Function& function,
                                         const std::vector<NamedInput>& inputs,
                                         const std::vector<std::pair<std::string, int64_t>>& given);

/// One tensor per tensor parameter, in order, in the parameter's dtype. The sizes of `function`
/// must be bound.
/// Errors: `input_missing` (lists all missing inputs, with an example), `input_shape`,
/// `input_dtype`, `input_range`, `input_size` (an unbound size), those of the readers, `cancelled`
/// (checked between two inputs).
Expected<std::vector<std::pair<std::string, Tensor>>> input_tensors(
    const Function& function, const std::vector<NamedInput>& inputs,
    const std::string& base_directory, const PrepareProgress& watch = {});

}  // namespace hostir::interp
