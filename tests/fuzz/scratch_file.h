// A scratch file per process, for targets whose readers take paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hostir::fuzz {

/// A path in a new folder; empty if the folder cannot be created.
inline std::string scratch_file(const char* name) {
  std::string pattern = (std::filesystem::temp_directory_path() / "hostir-fuzz-XXXXXX").string();
  return mkdtemp(pattern.data()) != nullptr ? pattern + "/" + name : std::string();
}

inline void write_scratch(const std::string& path, const uint8_t* data, size_t size) {
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
}

}  // namespace hostir::fuzz
