// Tensors and tables as files.
#pragma once

#include <string>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::gui {

/// One line per row of the last dimension, without the leading indices. Floats have enough digits
/// to read back as the same number.
std::string csv_of(const Tensor& tensor);

/// Writes CSV if the path ends in `.csv`, else `.npy`. Errors: `file_write`.
Expected<void> write_tensor(const std::string& path, const Tensor& tensor);

}  // namespace hostir::gui
