// Reads gzip files, with a bound on the decompressed size.
#pragma once

#include <string>
#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::traces::import {

bool looks_like_gzip(std::string_view bytes);
/// At most 200 times the input plus 1 GiB. Errors: `gzip_format`.
Expected<std::string> gunzip(std::string_view bytes);

}  // namespace hostir::traces::import
