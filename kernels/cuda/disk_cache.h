// Caches bytes between runs, by a key that covers everything they depend on.
//
// One file per entry, named by the key's hash, with the key inside: a collision or a damaged file
// is a miss. Files are written completely and then renamed, so that processes may share the folder.
// Failed reads and writes are silently treated as uncached.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hostir::cuda {

class DiskCache {
 public:
  /// `folder` as in CompilerOptions::cache_folder.
  explicit DiskCache(const std::string& folder);

  std::optional<std::string> read(std::string_view key) const;
  void write(std::string_view key, std::string_view bytes) const;

 private:
  std::string path_of(std::string_view key) const;

  std::string folder_;  // empty: none
};

}  // namespace hostir::cuda
