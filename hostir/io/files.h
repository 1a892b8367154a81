// Whole files in and out of memory, errors named by path.
#pragma once

#include <string>
#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::io {

/// The bytes of a file; "-" reads standard input. Errors: `file_open`, `file_read`.
Expected<std::string> read_file(const std::string& path);
/// At most the first `bytes` bytes; nothing of "-", which can be read only once.
Expected<std::string> read_file_head(const std::string& path, size_t bytes);
/// Whether write_file() could write it now; what is there stays as it is. Errors: `file_open`.
Expected<void> check_writable(const std::string& path);
/// Replaces the file (written beside it, then renamed, so that a crash leaves the old one).
Expected<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace hostir::io
