#include "traces/import/formats/gzip.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <utility>

namespace hostir::traces::import {

namespace {

tl::unexpected<Error> damaged(std::string_view what) {
  return fail(ErrorKind::kInvalid, "gzip_format", fmt::format("compressed data: {}", what));
}

}  // namespace

/// Ends zlib's stream on every exit path.
struct GzipReader::State {
  Source source;
  z_stream stream = {};
  std::array<char, 1 << 16> input;
  uint64_t taken = 0;
  uint64_t given = 0;
  bool ready = false;
  bool between_members = false;  // several concatenated members are one text
  explicit State(Source from) : source(std::move(from)) {
    ready = inflateInit2(&stream, 15 + 16) == Z_OK;  // 16: a gzip header is expected
  }
  ~State() {
    if (ready) inflateEnd(&stream);
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

GzipReader::GzipReader(Source source) : state_(std::make_unique<State>(std::move(source))) {}
GzipReader::~GzipReader() = default;

Expected<size_t> GzipReader::read(std::span<char> out) {
  State& s = *state_;
  if (!s.ready) return damaged("zlib cannot be started");
  s.stream.next_out = reinterpret_cast<Bytef*>(out.data());
  s.stream.avail_out = static_cast<uInt>(out.size());
  while (s.stream.avail_out > 0) {
    if (s.stream.avail_in == 0) {
      const size_t size = s.source(s.input);
      s.taken += size;
      s.stream.next_in = reinterpret_cast<Bytef*>(s.input.data());
      s.stream.avail_in = static_cast<uInt>(size);
      if (size == 0) {
        if (s.between_members) break;
        return damaged("it ends too early: the file is cut off or damaged");
      }
    }
    if (s.between_members && inflateReset(&s.stream) != Z_OK) {
      return damaged("a member that cannot be read");
    }
    s.between_members = false;
    const int status = inflate(&s.stream, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      s.between_members = true;
    } else if (status != Z_OK) {
      return damaged("it is cut or damaged");
    }
  }
  const size_t size = out.size() - s.stream.avail_out;
  s.given += size;
  const uint64_t most = (uint64_t{1} << 30) + 200 * s.taken;
  if (s.given > most) return damaged(fmt::format("it grows beyond {} bytes", most));
  return size;
}

bool looks_like_gzip(std::string_view bytes) {
  return bytes.size() >= 2 && static_cast<uint8_t>(bytes[0]) == 0x1f &&
         static_cast<uint8_t>(bytes[1]) == 0x8b;
}

Expected<std::string> gunzip(std::string_view bytes) {
  GzipReader reader([&](std::span<char> out) {
    const size_t size = std::min(out.size(), bytes.size());
    std::copy_n(bytes.data(), size, out.data());
    bytes.remove_prefix(size);
    return size;
  });
  std::string out;
  std::array<char, 1 << 16> chunk;
  while (true) {
    HOSTIR_ASSIGN_OR_RETURN(const size_t size, reader.read(chunk));
    if (size == 0) return out;
    out.append(chunk.data(), size);
  }
}

}  // namespace hostir::traces::import
