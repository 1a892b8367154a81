// Reads gzip files, with a bound on the decompressed size.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hostir/support/expected.h"

namespace hostir::traces::import {

bool looks_like_gzip(std::string_view bytes);

/// Decompresses piece by piece, in constant memory. One thread at a time.
class GzipReader {
 public:
  /// Writes the next compressed bytes and returns their number; 0: the end.
  using Source = std::function<size_t(std::span<char>)>;
  explicit GzipReader(Source source);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  /// Fills `out` from the front; 0: the end. Stops at 200 times the input plus 1 GiB.
  /// Errors: `gzip_format`.
  Expected<size_t> read(std::span<char> out);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// At most 200 times the input plus 1 GiB. Errors: `gzip_format`.
Expected<std::string> gunzip(std::string_view bytes);

}  // namespace hostir::traces::import
