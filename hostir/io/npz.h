// NumPy's `.npz` archives: named tensors in one zip file, stored or deflated (through libzip).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::io {

/// Name and contents of a member.
using ZipMember = std::pair<std::string, std::vector<std::byte>>;
using ZipMembers = std::vector<ZipMember>;
/// All members of any zip archive, in archive order. Errors: `npz_format`.
Expected<ZipMembers> read_zip(const std::string& path);
/// A new archive with these members, not compressed. Errors: `npz_format`.
Expected<void> write_zip(const std::string& path,
                         const std::vector<std::pair<std::string, std::string>>& members);

using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// All members in archive order, named without `.npy`. Errors: `npz_format`, `npy_format`.
Expected<NamedTensors> read_npz(const std::string& path);
/// One member. Errors: those of read_npz(); `npz_member` lists the members of the archive.
Expected<Tensor> read_npz_member(const std::string& path, const std::string& name);
Expected<void> write_npz(const std::string& path, const NamedTensors& tensors);

}  // namespace hostir::io
