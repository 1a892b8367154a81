// Whole files in and out of memory, errors named by path.
#pragma once

#include <string>
#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::io {

/// The bytes of a file; "-" reads standard input. Errors: `file_open`, `file_read`.
Expected<std::string> read_file(const std::string& path);
/// A text for a parser: at most 128 MiB, with no zero byte. Errors: those of read_file();
/// `not_text` with what the file is instead, where its first bytes say so.
Expected<std::string> read_text(const std::string& path);
/// At most the first `bytes` bytes; nothing of "-", which can be read only once.
Expected<std::string> read_file_head(const std::string& path, size_t bytes);
/// Whether write_file() could write it now; what is there stays as it is. Errors: `file_open`.
Expected<void> check_writable(const std::string& path);
/// Replaces the file whole: the bytes are written beside it, put on the disk, then renamed. Whoever
/// reads, and a kill or a loss of power at any moment, finds the old bytes or the new ones. The
/// permissions stay, a link stays a link; a file that is write-protected stays as it is. Pipes and
/// devices are written to. Errors: `file_open`, `file_write`.
Expected<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace hostir::io
