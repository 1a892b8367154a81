// Values that are made, not stored: `full(v)`, `iota`, `uniform(seed, lo, hi)`, `normal(seed)`.
//
// Every element is a function of (generator, global row-major index) alone, so a shard can be made
// without the whole, and a log can keep the expression instead of the data. Random values come from
// Philox (hostir/support/philox.h); `normal` maps one uniform word by the inverse of the normal
// distribution (Wichura, AS 241, 1988).
#pragma once

#include <string>
#include <string_view>

#include "hostir/ir/script.h"
#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::io {

/// One element of a generator before rounding to a dtype. `spec.kind` must be a generator's.
double generated_element(const ValueSpec& spec, int64_t global_index);

/// The whole tensor. Errors: `value_kind` where `spec` is not a generator, `value_range` where the
/// dtype cannot hold an element (fractions are cut off for integers).
Expected<Tensor> generate(const ValueSpec& spec, DType dtype, const Extents& extents);

/// Any ValueSpec but a name: inline text, files (`.npy`, `.npz#member`, relative to `directory`),
/// generators (shape from `spec.type`, else from the arguments). Converted to `dtype` if one is
/// given and the source is another one. Errors: those of the readers, `value_shape` where a
/// generator has no shape.
Expected<Tensor> materialise(const ValueSpec& spec, const std::string& directory,
                             const DType* dtype, const Extents* extents);

/// What a command line or a script writes: `4xf32=[..]`, `@x.npy`, `full(1)`, `iota`,
/// `uniform(7, -1, 1)`, `normal(3)`, each generator optionally with a shape: `normal(3, 4x8xf32)`.
Expected<ValueSpec> parse_value_spec(std::string_view text);
std::string format_value_spec(const ValueSpec& spec);

}  // namespace hostir::io
