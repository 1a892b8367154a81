// Generated values: `full(v)`, `iota`, `uniform(seed, lo, hi)`, `normal(seed)`.
//
// Every element depends only on the generator and the global row-major index, so a shard can be
// generated without the whole tensor, and a log stores the expression instead of the data. Random
// values come from Philox (hostir/support/philox.h); `normal` applies the inverse of the normal
// distribution function (Wichura, AS 241, 1988) to one uniform word.
#pragma once

#include <string>
#include <string_view>

#include "hostir/ir/script.h"
#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::io {

/// One element, before rounding to a dtype. `spec` must be a generator.
double generated_element(const ValueSpec& spec, int64_t global_index);

/// The whole tensor. `spec` must be a generator. Integer dtypes truncate fractions. Errors:
/// `value_range` if an element does not fit in the dtype.
Expected<Tensor> generate(const ValueSpec& spec, DType dtype, const Extents& extents);

/// The tensor of any ValueSpec except a name: inline text, files (`.npy`, `.npz#member`, relative
/// to `directory`) and generators (shape from `spec.type`, else from `dtype` and `extents`, which
/// must not be null then). Converts to `dtype` unless it is null. Errors: those of the readers and
/// of generate().
Expected<Tensor> materialise(const ValueSpec& spec, const std::string& directory,
                             const DType* dtype, const Extents* extents);

/// Parses a value on a command line or in a script: `4xf32=[..]`, `@x.npy`, `full(1)`, `iota`,
/// `uniform(7, -1, 1)`, `normal(3)`. A generator may end with a shape: `normal(3, 4x8xf32)`.
Expected<ValueSpec> parse_value_spec(std::string_view text);
std::string format_value_spec(const ValueSpec& spec);

}  // namespace hostir::io
