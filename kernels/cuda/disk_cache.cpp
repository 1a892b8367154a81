#include "kernels/cuda/disk_cache.h"

#include <fmt/core.h>
#include <xxhash.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "hostir/support/process_id.h"

namespace hostir::cuda {
namespace {

constexpr std::string_view kMagic = "hostir-cuda-1\n";

std::string users_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    return std::string(cache) + "/hostir/cuda";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return std::string(home) + "/.cache/hostir/cuda";
  }
  return {};
}

}  // namespace

DiskCache::DiskCache(const std::string& folder)
    : folder_(folder == "none" ? std::string()
              : folder.empty() ? users_folder()
                               : folder) {
  if (folder_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(folder_, error);
  if (error) folder_.clear();
}

std::string DiskCache::path_of(std::string_view key) const {
  const XXH128_hash_t hash = XXH3_128bits(key.data(), key.size());
  return fmt::format("{}/{:016x}{:016x}", folder_, hash.high64, hash.low64);
}

std::optional<std::string> DiskCache::read(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(path_of(key), std::ios::binary);
  if (!file) return std::nullopt;
  const std::string content{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  // magic, key length, hash of the rest, key, bytes.
  const size_t head = kMagic.size() + 2 * sizeof(uint64_t);
  if (content.size() < head + key.size() || !content.starts_with(kMagic)) return std::nullopt;
  uint64_t length = 0;
  uint64_t hash = 0;
  std::memcpy(&length, content.data() + kMagic.size(), sizeof length);
  std::memcpy(&hash, content.data() + kMagic.size() + sizeof length, sizeof hash);
  const std::string_view rest = std::string_view(content).substr(head);
  if (length != key.size() || hash != XXH3_64bits(rest.data(), rest.size()) ||
      !rest.starts_with(key)) {
    return std::nullopt;
  }
  return std::string(rest.substr(key.size()));
}

void DiskCache::write(std::string_view key, std::string_view bytes) const {
  if (folder_.empty()) return;
  std::string rest(key);
  rest += bytes;
  const uint64_t length = key.size();
  const uint64_t hash = XXH3_64bits(rest.data(), rest.size());
  const std::string path = path_of(key);
  const std::string temporary =
      fmt::format("{}.{}.{}", path, current_process().pid, reinterpret_cast<uintptr_t>(&rest));
  {
    std::ofstream file(temporary, std::ios::binary);
    file << kMagic;
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file.write(reinterpret_cast<const char*>(&hash), sizeof hash);
    file << rest;
    if (!file) {
      file.close();
      std::error_code ignored;
      std::filesystem::remove(temporary, ignored);
      return;
    }
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) std::filesystem::remove(temporary, error);
}

}  // namespace hostir::cuda
