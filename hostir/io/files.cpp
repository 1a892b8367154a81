#include "hostir/io/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

namespace hostir::io {

namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

tl::unexpected<Error> file_error(std::string id, const std::string& path, int code) {
  return fail(ErrorKind::kRuntime, std::move(id), path + ": " + std::strerror(code));
}

Expected<std::string> read_all(std::FILE* file, const std::string& path) {
  std::string out;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file)) out.append(buffer, n);
  if (std::ferror(file)) return file_error("file_read", path, errno);
  return out;
}

}  // namespace

Expected<std::string> read_file(const std::string& path) {
  if (path == "-") return read_all(stdin, "standard input");
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return file_error("file_open", path, errno);
  return read_all(file.get(), path);
}

Expected<std::string> read_file_head(const std::string& path, size_t bytes) {
  if (path == "-") return std::string();
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return file_error("file_open", path, errno);
  std::string out(bytes, '\0');
  out.resize(std::fread(out.data(), 1, bytes, file.get()));
  if (std::ferror(file.get())) return file_error("file_read", path, errno);
  return out;
}

Expected<void> check_writable(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return file_error("file_open", path, EISDIR);
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored))
    return {};
  const std::string temporary = path + ".tmp";
  const bool writable = File(std::fopen(temporary.c_str(), "wb")) != nullptr;
  if (!writable) return file_error("file_open", path, errno);
  std::remove(temporary.c_str());
  return {};
}

Expected<void> write_file(const std::string& path, std::string_view bytes) {
  // A pipe or device (/dev/stdout) is written to; renaming would put a file in its place.
  std::error_code unknown;
  const bool special =
      std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown);
  const std::string temporary = special ? path : path + ".tmp";
  {
    const File file(std::fopen(temporary.c_str(), "wb"));
    if (!file) return file_error("file_open", path, errno);
    if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
        std::fflush(file.get()) != 0) {
      return file_error("file_write", path, errno);
    }
  }
  if (!special && std::rename(temporary.c_str(), path.c_str()) != 0) {
    return file_error("file_write", path, errno);
  }
  return {};
}

}  // namespace hostir::io
