// Files of named tensors: `.npz`, `.safetensors`, and PyTorch's `.pt` and `.pth`.
#pragma once

#include <string>

#include "hostir/io/tensor_file.h"
#include "hostir/ir/script.h"

namespace hostir::api {

/// True if the name ends like that of such a file.
bool holds_tensors(const std::string& path);
/// Errors: those of io::read_named_tensors() and traces::import::read_torch_file().
Expected<io::NamedTensors> read_tensors(const std::string& path);
/// A value that is inline text or a file; `x.pt#name` too. Errors: those of io::materialise() and
/// read_tensors().
Expected<Tensor> stored_tensor(const ValueSpec& spec);

}  // namespace hostir::api
