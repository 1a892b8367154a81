#include "hostir/io/npy.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>
#include <optional>

#include "hostir/io/files.h"

namespace hostir::io {

namespace {

tl::unexpected<Error> bad(const std::string& why) {
  return fail(ErrorKind::kRuntime, "npy_format", "not a readable .npy: " + why);
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  Extents extents;
};

// The header is a Python dict literal with three keys. Only the forms that NumPy writes are parsed.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Expected<Header> parse() {
    Header header;
    if (!take('{')) return bad(why_);
    int keys = 0;
    while (!take('}')) {
      const auto key = string();
      if (!key || !take(':') || !value(*key, header)) return bad(why_);
      ++keys;
      take(',');
    }
    if (keys != 3) return bad(why_);
    return header;
  }

 private:
  bool refuse(std::string why) {
    why_ = std::move(why);
    return false;
  }
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    skip_space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view w) {
    skip_space();
    if (text_.substr(at_, w.size()) != w) return false;
    at_ += w.size();
    return true;
  }
  std::optional<std::string> string() {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return std::nullopt;
    std::string out(text_.substr(at_, end - at_));
    at_ = end + 1;
    return out;
  }
  bool shape(Extents& extents) {
    if (!take('(')) return false;
    while (!take(')')) {
      skip_space();
      int64_t n = 0;
      const char* begin = text_.data() + at_;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), n);
      if (error != std::errc()) return false;
      if (n < 0) return refuse("the shape has the negative size " + std::to_string(n));
      if (extents.size() >= 32) return refuse("the shape has more than 32 dimensions");
      at_ += static_cast<size_t>(end - begin);
      word("L");
      extents.push_back(n);
      take(',');
    }
    return true;
  }
  bool value(const std::string& key, Header& header) {
    if (key == "shape") return shape(header.extents);
    if (key == "fortran_order") {
      header.fortran_order = word("True");
      return header.fortran_order || word("False");
    }
    if (key != "descr") return false;
    if (take('[')) return refuse("its elements are records (a structured dtype), not numbers");
    const auto descr = string();
    if (descr) header.descr = *descr;
    return descr.has_value();
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string why_ = "the header is not a dict of descr, fortran_order, shape";
};

struct Source {
  std::string_view kind;  // the descr without the byte order
  std::string_view name;  // in NumPy
  DType dtype;
  bool is_complex = false;  // two numbers of the dtype
};

// NumPy itself has no bfloat16 and no 8-bit floats. ml_dtypes registers their names, and writes V2
// or V1 where only the width is kept.
constexpr Source kSources[] = {
    {"f8", "float64", DType::kF64},
    {"f4", "float32", DType::kF32},
    {"V2", "two-byte void", DType::kBF16},
    {"bfloat16", "bfloat16", DType::kBF16},
    {"f2", "float16", DType::kF16},
    {"float8_e4m3fn", "float8_e4m3fn", DType::kF8E4M3},
    {"float8_e5m2", "float8_e5m2", DType::kF8E5M2},
    {"i8", "int64", DType::kI64},
    {"i4", "int32", DType::kI32},
    {"i2", "int16", DType::kI16},
    {"i1", "int8", DType::kI8},
    {"u8", "uint64", DType::kU64},
    {"u4", "uint32", DType::kU32},
    {"u2", "uint16", DType::kU16},
    {"u1", "uint8", DType::kU8},
    {"V1", "one-byte void", DType::kU8},
    {"b1", "bool", DType::kI1},
    {"c8", "complex64", DType::kF32, true},
    {"c16", "complex128", DType::kF64, true},
};

const Source* source_of(std::string_view descr) {
  const bool has_order = descr.starts_with('<') || descr.starts_with('>') ||
                         descr.starts_with('|') || descr.starts_with('=');
  for (const Source& source : kSources) {
    if (source.kind == (has_order ? descr.substr(1) : descr)) return &source;
  }
  return nullptr;
}

uint64_t load_bits(const std::byte* p, size_t size, bool big_endian) {
  uint64_t bits = 0;
  for (size_t i = 0; i < size; ++i) {
    const size_t byte = big_endian ? size - 1 - i : i;
    bits |= static_cast<uint64_t>(p[byte]) << (8 * i);
  }
  return bits;
}

// Row-major index of the element that Fortran order stores at `place`.
int64_t c_index(int64_t place, const Extents& extents) {
  int64_t stride = 1;
  std::vector<int64_t> strides(extents.size());
  for (size_t d = extents.size(); d-- > 0;) {
    strides[d] = stride;
    stride *= extents[d];
  }
  int64_t index = 0;
  for (size_t d = 0; d < extents.size(); ++d) {
    index += place % extents[d] * strides[d];
    place /= extents[d];
  }
  return index;
}

Expected<Tensor> convert(const Header& header, const Source& source, bool big_endian,
                         const std::byte* data) {
  Tensor out = Tensor::zeros(source.dtype, header.extents);
  const int64_t n = out.element_count();
  for (int64_t i = 0; source.dtype == DType::kI1 && i < n; ++i) {
    const auto byte = static_cast<int>(data[i]);
    if (byte > 1) return bad("a bool is stored as " + std::to_string(byte));
  }
  if (!big_endian && !header.fortran_order) {
    if (n > 0) std::memcpy(out.data.data(), data, out.data.size());
    return out;
  }
  const auto size = static_cast<size_t>(size_bytes(source.dtype));
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t bits = load_bits(data + static_cast<size_t>(i) * size, size, big_endian);
    const int64_t at = header.fortran_order ? c_index(i, header.extents) : i;
    std::memcpy(out.data.data() + static_cast<size_t>(at) * size, &bits, size);
  }
  return out;
}

std::string descr_of(DType dtype) {
  for (const Source& source : kSources) {
    if (source.dtype != dtype || source.is_complex) continue;
    if (source.kind.size() > 2) return std::string(source.kind);  // a name of ml_dtypes
    return (size_bytes(dtype) == 1 ? "|" : "<") + std::string(source.kind);
  }
  return {};
}

// A parsed file whose elements have not been read yet.
struct Layout {
  Header header;
  const Source* source = nullptr;
  size_t data_at = 0;
};

Expected<Layout> layout_of(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  if (bytes.size() < 10 || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return bad("the magic number is missing");
  }
  const auto version = static_cast<int>(bytes[6]);
  if (version < 1 || version > 3) return bad("format version " + std::to_string(version));
  const size_t length_size = version == 1 ? 2 : 4;
  const size_t header_at = 8 + length_size;
  if (bytes.size() < header_at) return bad("it ends within the header");
  const uint64_t length = load_bits(bytes.data() + 8, length_size, false);
  if (length > bytes.size() - header_at) return bad("it ends within the header");
  std::string text(static_cast<size_t>(length), '\0');
  if (length > 0) std::memcpy(text.data(), bytes.data() + header_at, text.size());
  HOSTIR_ASSIGN_OR_RETURN(Header header, HeaderParser(text).parse());
  const Source* source = source_of(header.descr);
  if (!source) return bad("dtype '" + header.descr + "' is not supported");
  if (source->is_complex && header.fortran_order && header.extents.size() > 1)
    return bad("complex numbers in Fortran order; save np.ascontiguousarray(x)");
  if (source->is_complex) header.extents.push_back(2);
  return Layout{std::move(header), source, header_at + text.size()};
}

}  // namespace

Expected<Tensor> parse_npy(std::span<const std::byte> bytes) {
  HOSTIR_ASSIGN_OR_RETURN(const Layout file, layout_of(bytes));
  const auto count = element_count(file.header.extents);
  const size_t available = bytes.size() - file.data_at;
  if (!count || static_cast<uint64_t>(*count) >
                    available / static_cast<uint64_t>(size_bytes(file.source->dtype))) {
    return bad("it ends within the data");
  }
  return convert(file.header, *file.source, file.header.descr[0] == '>',
                 bytes.data() + file.data_at);
}

std::string npy_reading(const std::string& path) {
  constexpr size_t kHeadBytes = 4096;
  const auto head = read_file_head(path, kHeadBytes);
  if (!head) return {};
  const auto file = layout_of(std::as_bytes(std::span(head->data(), head->size())));
  if (!file) return {};
  const Source& source = *file->source;
  if (source.kind == "V2")
    return path + " holds " + std::string(source.name) + ", which is read as the bits of bf16";
  if (source.kind != "V1") return {};
  return path + " holds " + std::string(source.name) + ", which is read as u8";
}

namespace {

std::string format_elements(const Tensor& tensor, const std::string& descr,
                            std::span<const int64_t> extents) {
  std::string shape = "(";
  for (const int64_t e : extents) shape += std::to_string(e) + ", ";
  if (extents.size() > 1) shape.resize(shape.size() - 2);
  if (extents.size() == 1) shape.resize(shape.size() - 1);
  shape += ")";
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\x00';
  out += static_cast<char>(header.size() & 0xff);
  out += static_cast<char>(header.size() >> 8);
  out += header;
  const size_t at = out.size();
  out.resize(at + tensor.data.size());
  if (!tensor.data.empty()) std::memcpy(out.data() + at, tensor.data.data(), tensor.data.size());
  return out;
}

}  // namespace

std::string format_npy(const Tensor& tensor) {
  return format_elements(tensor, descr_of(tensor.dtype), tensor.extents);
}

std::string format_complex_npy(const Tensor& tensor) {
  return format_elements(tensor, tensor.dtype == DType::kF64 ? "<c16" : "<c8",
                         std::span(tensor.extents).first(tensor.extents.size() - 1));
}

Expected<Tensor> read_npy(const std::string& path) {
  HOSTIR_ASSIGN_OR_RETURN(const std::string bytes, read_file(path));
  auto tensor = parse_npy(std::as_bytes(std::span(bytes.data(), bytes.size())));
  if (!tensor) tensor.error().diagnostics.front().message.insert(0, path + ": ");
  return tensor;
}

Expected<void> write_npy(const std::string& path, const Tensor& tensor) {
  return write_file(path, format_npy(tensor));
}

}  // namespace hostir::io
