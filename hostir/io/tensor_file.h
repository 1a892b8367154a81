// Tensor files by the ending of their names: `.npz` and `.safetensors` hold named tensors, others
// are `.npy`.
#pragma once

#include <string>
#include <string_view>

#include "hostir/io/npz.h"

namespace hostir::io {

/// True for `.npz` and `.safetensors`.
bool holds_named_tensors(const std::string& path);
/// All tensors of a file that holds named ones. Errors: those of the format's reader.
Expected<NamedTensors> read_named_tensors(const std::string& path);
Expected<void> write_named_tensors(const std::string& path, const NamedTensors& tensors);

/// The tensor called `wanted`, or the only one if that is empty. Errors: `archive_member`, listing
/// the tensors of the file `path`.
Expected<Tensor> one_of(NamedTensors tensors, const std::string& path, std::string_view wanted);

/// `x.npy`, `all.npz#x`, `all.safetensors#x`, or an archive with a single tensor. Errors: those of
/// the format's reader, of read_npz_member() and of one_of().
Expected<Tensor> read_tensor_file(const std::string& path);
/// Writes one tensor: as `.npy`, or under `name` in an archive.
Expected<void> write_tensor_file(const std::string& path, const std::string& name,
                                 const Tensor& tensor);

}  // namespace hostir::io
