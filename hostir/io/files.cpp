#include "hostir/io/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

namespace hostir::io {

namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

tl::unexpected<Error> file_error(std::string id, const std::string& path, int code) {
  return fail(ErrorKind::kRuntime, std::move(id), path + ": " + std::strerror(code));
}

/// Nothing is read from pipes and devices: they may never end, or never begin.
Expected<File> open_to_read(const std::string& path) {
  struct stat status {};
  const bool known = stat(path.c_str(), &status) == 0;
  if (known && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
    return fail(ErrorKind::kRuntime, "file_open",
                fmt::format("{}: a {}, not a file; name a file, or - for standard input", path,
                            S_ISFIFO(status.st_mode)   ? "pipe"
                            : S_ISSOCK(status.st_mode) ? "socket"
                                                       : "device"));
  }
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) return file_error("file_open", path, errno);
  return file;
}

/// Reads to the end of the file, or until `wanted` returns false for the bytes read so far.
template <class Wanted>
Expected<std::string> read_while(std::FILE* file, const std::string& path, const Wanted& wanted) {
  std::string out;
  char buffer[1 << 16];
  while (const size_t n = std::fread(buffer, 1, sizeof buffer, file)) {
    out.append(buffer, n);
    if (!wanted(out, n)) break;
  }
  if (std::ferror(file)) return file_error("file_read", path, errno);
  return out;
}

Expected<std::string> read_all(std::FILE* file, const std::string& path) {
  return read_while(file, path, [](const std::string&, size_t) { return true; });
}

constexpr size_t kMaxTextBytes = size_t{128} << 20;

/// True if the bytes begin like an HloProto or HloModuleProto: the fields `name` and
/// `entry_computation_name`, by themselves or inside the field `hlo_module`.
bool is_hlo_proto(std::string_view head) {
  size_t at = 0;
  const auto length = [&](char tag) -> std::optional<size_t> {
    if (at >= head.size() || head[at] != tag) return std::nullopt;
    size_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {  // a varint
      if (++at >= head.size()) return std::nullopt;
      const auto byte = static_cast<unsigned char>(head[at]);
      value |= static_cast<size_t>(byte & 0x7fU) << shift;
      if ((byte & 0x80U) != 0) continue;
      ++at;
      return value;
    }
    return std::nullopt;
  };
  constexpr char kFirst = 0x0a;   // field 1, of a length
  constexpr char kSecond = 0x12;  // field 2, of a length
  auto name = length(kFirst);
  if (at < head.size() && head[at] == kFirst) name = length(kFirst);
  if (!name || *name == 0 || *name > head.size() - at) return false;
  const std::string_view text = head.substr(at, *name);
  at += *name;
  const auto names = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-';
  };
  return std::all_of(text.begin(), text.end(), names) && length(kSecond).has_value();
}

/// Describes a binary file by its first bytes.
std::string_view described(std::string_view head) {
  struct Known {
    std::string_view magic;
    std::string_view what;
  };
  static constexpr Known kKnown[] = {
      {"SQLite format 3", "a log: `hostir debug`, `replay`, `trace` and `gui` read it"},
      {"\x93NUMPY", "an array: --input NAME=@FILE reads it"},
      {"PK\x03\x04", "a zip archive, as .npz and .pt files are: --input NAME=@FILE reads .npz"},
      {"\x89PNG", "a picture"},
      {"\x7f"
       "ELF",
       "a compiled program"},
      {"ML\xefR",
       "MLIR bytecode: convert it to text, with `stablehlo-translate --deserialize` if it is a JAX "
       "export, else with `stablehlo-opt`"},
      {"\x1f\x8b", "compressed by gzip: unpack it with `gunzip FILE`"}};
  for (const Known& known : kKnown) {
    if (head.starts_with(known.magic)) return known.what;
  }
  if (is_hlo_proto(head)) {
    return "an HLO module as a protocol buffer: XLA_FLAGS=\"--xla_dump_to=DIR "
           "--xla_dump_hlo_as_text\" writes it as text";
  }
  return {};
}

// fsync, so that the rename never exposes a file whose data is not on disk yet.
bool write_through(std::FILE* file, std::string_view bytes) {
  return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() &&
         std::fflush(file) == 0 && fsync(fileno(file)) == 0;
}

Expected<void> write_special(const std::string& path, std::string_view bytes) {
  const File file(std::fopen(path.c_str(), "wb"));
  if (!file) return file_error("file_open", path, errno);
  if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fflush(file.get()) != 0)
    return file_error("file_write", path, errno);
  return {};
}

// The process id and a counter keep concurrent writers of one file apart.
std::string temporary_name(const std::string& path) {
  static std::atomic<unsigned> count = 0;
  return path + "." + std::to_string(getpid()) + "-" + std::to_string(count++) + ".tmp";
}

// The target of a symbolic link, which is the file to replace; else the path itself.
std::string behind_links(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto real = std::filesystem::weakly_canonical(path, error);
  return error ? path : real.string();
}

// Flushes the rename to disk. Some file systems do not support this, so errors are ignored.
void flush_folder(const std::string& file) {
  const std::filesystem::path folder = std::filesystem::path(file).parent_path();
  const int descriptor = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) return;
  fsync(descriptor);
  close(descriptor);
}

}  // namespace

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Expected<std::string> read_file(const std::string& path) {
  if (path == "-") return read_all(stdin, "standard input");
  HOSTIR_ASSIGN_OR_RETURN(const File file, open_to_read(path));
  return read_all(file.get(), path);
}

Expected<std::string> read_text(const std::string& path) {
  const bool standard = path == "-";
  File file;
  if (!standard) {
    HOSTIR_ASSIGN_OR_RETURN(file, open_to_read(path));
  }
  const std::string name = standard ? "standard input" : "\"" + path + "\"";
  bool is_text = true;
  HOSTIR_ASSIGN_OR_RETURN(
      std::string text,
      read_while(standard ? stdin : file.get(), name, [&](const std::string& so_far, size_t added) {
        is_text = described(so_far).empty() &&
                  so_far.find('\0', so_far.size() - added) == std::string::npos;
        return is_text && so_far.size() <= kMaxTextBytes;
      }));
  if (!is_text) {
    const std::string_view what = described(text);
    return fail(ErrorKind::kInvalid, "not_text",
                name + " is not text: it " +
                    (what.empty() ? "has a zero byte at offset " + std::to_string(text.find('\0'))
                                  : "is " + std::string(what)));
  }
  if (text.size() > kMaxTextBytes) {
    return fail(
        ErrorKind::kInvalid, "not_text",
        name + " is larger than a text may be (" + std::to_string(kMaxTextBytes >> 20) + " MiB)");
  }
  return text;
}

Expected<std::string> read_file_head(const std::string& path, size_t bytes) {
  if (path == "-") return std::string();
  HOSTIR_ASSIGN_OR_RETURN(const File file, open_to_read(path));
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
  const std::string target = behind_links(path);
  if (std::filesystem::exists(target, ignored) && access(target.c_str(), W_OK) != 0)
    return file_error("file_open", path, errno);
  const std::string temporary = temporary_name(target);
  const bool writable = File(std::fopen(temporary.c_str(), "wb")) != nullptr;
  if (!writable) return file_error("file_open", path, errno);
  std::remove(temporary.c_str());
  return {};
}

Expected<void> write_file(const std::string& path, std::string_view bytes) {
  if (path == "-") {
    const bool all = std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size();
    if (!all || std::fflush(stdout) != 0) return file_error("file_write", "standard output", errno);
    return {};
  }
  // Write directly to a pipe or device (/dev/stdout); a rename would replace it with a file.
  std::error_code unknown;
  const bool there = std::filesystem::exists(path, unknown);
  if (there && !std::filesystem::is_regular_file(path, unknown)) return write_special(path, bytes);
  const std::string target = behind_links(path);
  // A rename needs write permission for the folder only, so check the file's permission here.
  if (there && access(target.c_str(), W_OK) != 0) return file_error("file_open", path, errno);
  const std::string temporary = temporary_name(target);
  File file(std::fopen(temporary.c_str(), "wb"));
  if (!file) return file_error("file_open", path, errno);
  struct stat known {};
  if (there && stat(target.c_str(), &known) == 0) fchmod(fileno(file.get()), known.st_mode & 07777);
  if (!write_through(file.get(), bytes) || std::rename(temporary.c_str(), target.c_str()) != 0) {
    const int code = errno;
    unlink(temporary.c_str());
    return file_error("file_write", path, code);
  }
  flush_folder(target);
  return {};
}

}  // namespace hostir::io
