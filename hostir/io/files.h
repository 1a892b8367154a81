// Reading and writing whole files. Errors name the path. Pipes and devices are not read.
#pragma once

#include <string>
#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::io {

/// `mlp.hir` of `/home/ada/mlp.hir`.
std::string file_name(const std::string& path);
/// The contents of a file; "-" reads standard input. Errors: `file_open`, `file_read`.
Expected<std::string> read_file(const std::string& path);
/// Reads a text file for a parser: at most 128 MiB, without zero bytes. Errors: those of
/// read_file(); `not_text`, which names the file's actual format if its first bytes reveal it.
Expected<std::string> read_text(const std::string& path);
/// At most the first `bytes` bytes. Empty for "-", because standard input can be read only once.
Expected<std::string> read_file_head(const std::string& path, size_t bytes);
/// Checks that write_file() could write the file now, without changing it. Errors: `file_open`.
Expected<void> check_writable(const std::string& path);
/// Replaces a file atomically: writes a temporary file next to it, flushes that to disk and renames
/// it. A reader sees either the old or the new contents, even after a crash or power failure.
/// Permissions and symbolic links are kept. A write-protected file is not replaced. Pipes and
/// devices are written directly; "-" is standard output. Errors: `file_open`, `file_write`.
Expected<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace hostir::io
