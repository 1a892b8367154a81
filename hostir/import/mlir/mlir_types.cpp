// Types, signatures and `dense<...>` literals.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "hostir/import/mlir/mlir_reader.h"
#include "hostir/support/characters.h"
#include "hostir/support/lists.h"
#include "hostir/support/number_from.h"

namespace hostir::importer {

namespace {

// Larger than any literal that a real program writes out.
constexpr int64_t kMaxLiteralElements = int64_t{1} << 31;

// A float from its bit pattern; nullopt if the dtype is not a float.
std::optional<double> from_bits(DType dtype, uint64_t bits) {
  if (!is_float(dtype)) return std::nullopt;
  std::array<std::byte, sizeof bits> element;
  std::memcpy(element.data(), &bits, sizeof bits);
  return load_double(dtype, element.data());
}

}  // namespace

std::optional<ModuleType> MlirReader::read_type() {
  const Nesting nesting(*this);
  if (!nesting.ok()) return std::nullopt;
  ModuleType type;
  if (at("tensor")) return read_tensor_type();
  if (at(MlirTokenKind::kBang)) {
    const uint32_t begin = token_.begin;
    const std::string name(next().text);
    if (const auto alias = type_aliases_.find(name); alias != type_aliases_.end())
      return alias->second;
    if (at("<") && !skip_balanced()) return std::nullopt;
    type.element = std::string(lexer_.text().substr(begin, last_end_ - begin));
    return type;
  }
  if (at("tuple")) {
    next();
    type.kind = ModuleType::Kind::kTuple;
    if (!expect("<")) return std::nullopt;
    if (accept(">")) return type;
    if (!read_type_list(type.parts) || !expect(">")) return std::nullopt;
    return type;
  }
  if (at(MlirTokenKind::kWord)) {  // i64, index, complex<f32>, memref<...>
    const uint32_t begin = token_.begin;
    next();
    if (at("<") && !skip_balanced()) return std::nullopt;
    type.element = std::string(lexer_.text().substr(begin, last_end_ - begin));
    return type;
  }
  unexpected("a type");
  return std::nullopt;
}

// `tensor<8x4xf32>`: reads sizes from the characters, because `4xf32` is not a token.
std::optional<ModuleType> MlirReader::read_tensor_type() {
  const MlirToken word = next();
  if (!at("<")) {
    unexpected("\"<\"");
    return std::nullopt;
  }
  const std::string_view text = lexer_.text();
  size_t at_char = token_.end;
  ModuleType type = tensor_type("", {});
  while (at_char < text.size()) {
    size_t end = at_char;
    while (end < text.size() && is_digit(text[end])) ++end;
    const bool unknown = end == at_char && end < text.size() && text[end] == '?';
    if (unknown) ++end;
    if (end == at_char || end >= text.size() || text[end] != 'x') break;
    int64_t size = ModuleType::kUnknownSize;
    if (!unknown) {
      const auto number = number_from<int64_t>(text.substr(at_char, end - at_char));
      if (!number || *number > (int64_t{1} << 48)) {
        error("a dimension larger than 2^48",
              {file_, static_cast<uint32_t>(at_char), static_cast<uint32_t>(end)});
        return std::nullopt;
      }
      size = *number;
    }
    type.dims.push_back(size);
    at_char = end + 1;
  }
  move_to(static_cast<uint32_t>(at_char));
  const uint32_t begin = token_.begin;
  if (at(MlirTokenKind::kBang) || at(MlirTokenKind::kWord)) {
    next();
    if (at("<") && !skip_balanced()) return std::nullopt;
  } else {
    unexpected("an element type");
    return std::nullopt;
  }
  type.element = std::string(text.substr(begin, last_end_ - begin));
  if (accept(",")) {  // an encoding: `#stablehlo.bounds<8, ?>`
    if (!read_attr()) return std::nullopt;
  }
  if (type.element_count() < 0 && !contains(type.dims, -1)) {
    error("a tensor with more than 2^63 elements", {file_, word.begin, last_end_});
    return std::nullopt;
  }
  if (!expect(">")) return std::nullopt;
  return type;
}

bool MlirReader::read_type_list(std::vector<ModuleType>& out) {
  do {
    auto type = read_type();
    if (!type) return false;
    out.push_back(std::move(*type));
  } while (accept(","));
  return true;
}

std::optional<MlirReader::Signature> MlirReader::read_signature() {
  Signature out;
  if (accept("(")) {
    if (!at(")") && !read_type_list(out.operands)) return std::nullopt;
    if (!expect(")") || !expect("->")) return std::nullopt;
    out.arrow = true;
  } else {
    if (!read_type_list(out.operands)) return std::nullopt;
    if (!accept("->")) return out;
    out.arrow = true;
  }
  if (accept("(")) {
    if (!at(")") && !read_type_list(out.results)) return std::nullopt;
    if (!expect(")")) return std::nullopt;
    return out;
  }
  auto type = read_type();
  if (!type) return std::nullopt;
  out.results.push_back(std::move(*type));
  return out;
}

// The text after `dense`: `<1.0>`, `<[[1, 2], [3, 4]]>`, `<>`, `<"0x...">`; or
// `dense_resource<name>`.
std::optional<RawLiteral> MlirReader::read_raw_literal() {
  RawLiteral out;
  const uint32_t begin = token_.begin;
  const bool resource = next().text == "dense_resource";
  if (!expect("<")) return std::nullopt;
  if (resource) {
    out.resource = at(MlirTokenKind::kString) ? unescaped(token_.text) : std::string(token_.text);
    next();
  } else if (at(MlirTokenKind::kString) && token_.text.starts_with("\"0x")) {
    const std::string_view digits =
        token_.text.substr(3, token_.text.size() - std::min<size_t>(4, token_.text.size()));
    std::string bytes;
    for (size_t i = 0; i + 1 < digits.size(); i += 2) {
      const auto byte = number_from<uint32_t>(digits.substr(i, 2), 16);
      if (!byte) {
        error("not a hex digit in the data of a constant", span_of(token_));
        return std::nullopt;
      }
      bytes += static_cast<char>(*byte);
    }
    out.hex = std::move(bytes);
    next();
  } else if (!at(">") && !read_raw_elements(out)) {
    return std::nullopt;
  }
  if (!expect(">")) return std::nullopt;
  out.span = {file_, begin, last_end_};
  return out;
}

bool MlirReader::read_raw_elements(RawLiteral& out) {
  const Nesting nesting(*this);
  if (!nesting.ok()) return false;
  if (accept("[")) {
    out.nested = true;
    if (accept("]")) return true;
    do {
      if (!read_raw_elements(out)) return false;
    } while (accept(","));
    return expect("]");
  }
  if (accept("(")) {  // a complex number
    return read_raw_elements(out) && expect(",") && read_raw_elements(out) && expect(")");
  }
  // `-0x1p3` does not occur. A separate minus occurs only before a handwritten `inf` or `nan`.
  if (!at(MlirTokenKind::kNumber) && !at(MlirTokenKind::kWord) && !at(MlirTokenKind::kString)) {
    return unexpected("an element of a constant");
  }
  out.scalars.push_back(next().text);
  return true;
}

bool MlirReader::store_scalar(Tensor& data, int64_t index, std::string_view text, SourceSpan span) {
  const auto bad = [&] {
    return error(fmt::format("\"{}\" is not a value of {}", text, hostir::name(data.dtype)), span);
  };
  if (data.dtype == DType::kI1) {
    if (text != "true" && text != "false" && text != "1" && text != "0") return bad();
    data.set_int(index, text == "true" || text == "1" ? 1 : 0);
    return true;
  }
  const bool hex = text.starts_with("0x");
  if (is_float(data.dtype)) {
    std::optional<double> value;
    if (hex) {
      const auto bits = number_from<uint64_t>(text.substr(2), 16);
      if (bits) value = from_bits(data.dtype, *bits);
    } else {
      value = number_from<double>(text);
    }
    if (!value) return bad();
    data.set_double(index, *value);
    return true;
  }
  std::optional<int64_t> value = hex ? std::nullopt : number_from<int64_t>(text);
  if (!value) {  // u64 above 2^63, or bits
    const auto bits = hex ? number_from<uint64_t>(text.substr(2), 16) : number_from<uint64_t>(text);
    if (bits) value = static_cast<int64_t>(*bits);
  }
  if (!value) return bad();
  data.set_int(index, *value);
  return true;
}

// Stores little-endian elements in row-major order. An i1 takes one byte or one bit, depending on
// the length.
bool MlirReader::store_bytes(Literal& literal, const std::string& bytes, SourceSpan span) {
  const int64_t count = literal.type.element_count();
  const DType dtype = *literal.type.dtype();
  const int64_t width = size_bytes(dtype);
  const auto size = static_cast<int64_t>(bytes.size());
  if (size == width && count != 1) {  // a splat of one element
    literal.splat = true;
    literal.data = Tensor::zeros(dtype, {});
    std::memcpy(literal.data->data.data(), bytes.data(), bytes.size());
    return true;
  }
  const bool packed = dtype == DType::kI1 && size != count && size == (count + 7) / 8;
  if (size != count * width && !packed) {
    return error(fmt::format("a constant of {} needs {} bytes of data, not {}",
                             literal.type.to_string(), count * width, size),
                 span);
  }
  literal.data = Tensor::zeros(dtype, literal.type.dims);
  if (!packed) {
    std::memcpy(literal.data->data.data(), bytes.data(), bytes.size());
  }
  for (int64_t i = 0; dtype == DType::kI1 && i < count; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[static_cast<size_t>(packed ? i / 8 : i)]);
    literal.data->set_int(i, packed ? (byte >> (i % 8)) & 1 : (byte != 0 ? 1 : 0));
  }
  return true;
}

std::optional<Literal> MlirReader::complex_literal(const RawLiteral& raw, const ModuleType& type) {
  ModuleType both = part_of(type);
  const bool splat = !raw.hex && !raw.nested && raw.scalars.size() == 2;
  if (splat) both.dims.clear();
  both.dims.push_back(2);
  RawLiteral parts = raw;
  parts.nested = true;
  auto out = literal_of(parts, both);
  if (!out) return out;
  out->type = type;
  out->splat = splat;
  return out;
}

std::optional<Literal> MlirReader::literal_of(const RawLiteral& raw, const ModuleType& type) {
  if (is_complex(type)) return complex_literal(raw, type);
  Literal out;
  out.type = type;
  out.resource = raw.resource;
  const auto dtype = type.dtype();
  const int64_t count = type.element_count();
  if (!dtype || count < 0 || !raw.resource.empty() || is_only_stored(type)) return out;
  if (raw.hex) {
    if (!store_bytes(out, *raw.hex, raw.span)) return std::nullopt;
    return out;
  }
  const auto given = static_cast<int64_t>(raw.scalars.size());
  out.splat = given == 1 && !raw.nested;
  if (!out.splat && given != count) {
    error(fmt::format("a constant of {} has {} elements, not {}", type.to_string(), count, given),
          raw.span);
    return std::nullopt;
  }
  if (count > kMaxLiteralElements && !out.splat) return out;
  out.data = Tensor::zeros(*dtype, out.splat ? Extents{} : type.dims);
  for (int64_t i = 0; i < given; ++i) {
    if (!store_scalar(*out.data, i, raw.scalars[static_cast<size_t>(i)], raw.span))
      return std::nullopt;
  }
  return out;
}

}  // namespace hostir::importer
