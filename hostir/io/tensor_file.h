// Tensor files by the ending of their names: `.npz`, `.safetensors` and PyTorch's `.pt` and `.pth`
// hold named tensors, others are `.npy`.
#pragma once

#include <string>

#include "hostir/io/npz.h"

namespace hostir::io {

/// True for `.npz`, `.safetensors`, `.pt` and `.pth`.
bool holds_named_tensors(const std::string& path);
/// All tensors of such a file. Errors: those of the format's reader.
Expected<NamedTensors> read_named_tensors(const std::string& path);
/// As `.npz` if the ending is unknown. Errors: those of the format's writer.
Expected<void> write_named_tensors(const std::string& path, const NamedTensors& tensors);

/// `x.npy`, `all.npz#x`, `all.pt#x`, or an archive with a single tensor. Errors: those of the
/// format's reader; `archive_member` or `npz_member` lists the tensors of the file.
Expected<Tensor> read_tensor_file(const std::string& path);
/// Writes one tensor: as `.npy`, or under `name` in an archive.
Expected<void> write_tensor_file(const std::string& path, const std::string& name,
                                 const Tensor& tensor);

}  // namespace hostir::io
