// PyTorch's `.pt` files, as torch.save() writes them: a zip archive with a pickle and one member
// per storage.
//
// Reads tensors and parameters in dictionaries and lists, nested or not (a state_dict, a
// checkpoint). The pickle may name only what rebuilds tensors; other names are an error, and
// nothing in the file is ever called. TorchScript archives and files of torch before 1.6 are not
// read. Source: torch/serialization.py, torch/_utils.py.
#pragma once

#include <string>

#include "hostir/io/npz.h"

namespace hostir::io {

/// All tensors in the file's order, with dots between the keys that lead to them; other values are
/// skipped. A file that is a single tensor gives one, named `tensor`. Errors: `npz_format`,
/// `pickle_opcode`, `pickle_format`, `torch_format`; the message names the path.
Expected<NamedTensors> read_torch_file(const std::string& path);
/// One tensor; no other storage is read. Errors: those of read_torch_file(); `archive_member` lists
/// the tensors of the file.
Expected<Tensor> read_torch_tensor(const std::string& path, const std::string& name);

/// A dictionary of contiguous tensors, which torch.load(path, weights_only=True) reads.
/// Errors: `npz_format`.
Expected<void> write_torch_file(const std::string& path, const NamedTensors& tensors);

}  // namespace hostir::io
