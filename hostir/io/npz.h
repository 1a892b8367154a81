// NumPy's `.npz` archives: named tensors in one zip file, stored or deflated (through libzip).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

struct zip;  // libzip's archive

namespace hostir::io {

/// A zip archive with any contents. Reads only the members that are requested.
class ZipReader {
 public:
  /// Errors: `npz_format`.
  static Expected<ZipReader> open(const std::string& path);

  /// The names of all members, in archive order.
  const std::vector<std::string>& names() const { return names_; }
  /// The contents of a member. Errors: `npz_format`.
  Expected<std::vector<std::byte>> read(size_t member) const;
  /// The size of the file in bytes.
  int64_t file_size() const { return file_size_; }

 private:
  struct Discard {
    void operator()(zip* z) const;
  };
  std::string path_;
  std::unique_ptr<zip, Discard> archive_;
  std::vector<std::string> names_;
  int64_t file_size_ = 0;
};

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
