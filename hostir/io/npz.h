// NumPy's `.npz` archives: named tensors in one zip file, stored or deflated (through libzip).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::io {

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Members in the order of the archive, names without `.npy`. Errors: `npz_format`, `npy_format`.
Expected<NamedTensors> read_npz(const std::string& path);
/// One member. Errors: `npz_member` lists the names that the archive has.
Expected<Tensor> read_npz_member(const std::string& path, const std::string& name);
Expected<void> write_npz(const std::string& path, const NamedTensors& tensors);

}  // namespace hostir::io
