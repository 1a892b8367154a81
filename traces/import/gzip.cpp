#include "traces/import/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>

namespace hostir::traces::import {

namespace {

/// Ends zlib's stream on every exit path.
struct Inflation {
  z_stream stream = {};
  bool ready = false;
  Inflation() { ready = inflateInit2(&stream, 15 + 16) == Z_OK; }  // 16: a gzip header is expected
  ~Inflation() {
    if (ready) inflateEnd(&stream);
  }
  Inflation(const Inflation&) = delete;
  Inflation& operator=(const Inflation&) = delete;
};

}  // namespace

bool looks_like_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && static_cast<uint8_t>(bytes[0]) == 0x1f &&
         static_cast<uint8_t>(bytes[1]) == 0x8b;
}

Expected<std::string> gunzip(std::string_view bytes) {
  const size_t most = (size_t{1} << 30) + 200 * bytes.size();
  const auto damaged = [](std::string_view what) {
    return fail(ErrorKind::kInvalid, "gzip_format", fmt::format("compressed data: {}", what));
  };
  if (bytes.size() > std::numeric_limits<uInt>::max()) return damaged("more than 4 GiB");
  Inflation inflation;
  if (!inflation.ready) return damaged("zlib cannot be started");
  z_stream& stream = inflation.stream;
  // zlib does not write through next_in, although its type is not const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string out;
  std::array<char, 1 << 16> chunk;
  while (true) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int status = inflate(&stream, Z_NO_FLUSH);
    out.append(chunk.data(), chunk.size() - stream.avail_out);
    if (out.size() > most) return damaged(fmt::format("it grows beyond {} bytes", most));
    if (status == Z_STREAM_END) {
      if (stream.avail_in == 0) return out;
      // Several concatenated members are one text.
      if (inflateReset(&stream) != Z_OK) return damaged("a member that cannot be read");
      continue;
    }
    if (status != Z_OK) return damaged("it is cut or damaged");
  }
}

}  // namespace hostir::traces::import
