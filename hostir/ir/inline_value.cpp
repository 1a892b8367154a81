#include "hostir/ir/inline_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "hostir/support/number_from.h"
#include "hostir/support/text.h"

namespace hostir {

namespace {

// Inline values are meant to be read by people; larger tensors belong in files.
constexpr int64_t kMaxElements = int64_t{1} << 22;

tl::unexpected<Error> bad(std::string message) {
  return fail(ErrorKind::kInvalid, "value_c3", std::move(message));
}

bool is_separator(char c) { return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r'; }

bool set_float(Tensor& tensor, int64_t index, std::string_view word) {
  const auto value = number_from<double>(word);
  if (value) tensor.set_double(index, *value);
  return value.has_value();
}

bool set_integer(Tensor& tensor, int64_t index, std::string_view word) {
  if (word == "true" || word == "false") {
    tensor.set_int(index, word == "true" ? 1 : 0);
    return true;
  }
  if (tensor.dtype == DType::kU64) {
    const auto bits = number_from<uint64_t>(word);
    if (bits) tensor.set_int(index, static_cast<int64_t>(*bits));
    return bits.has_value();
  }
  const auto value = number_from<int64_t>(word);
  if (!value) return false;
  tensor.set_int(index, *value);
  return tensor.get_int(index) == *value;
}

bool set_element(Tensor& tensor, int64_t index, std::string_view word) {
  return is_float(tensor.dtype) ? set_float(tensor, index, word) : set_integer(tensor, index, word);
}

Expected<int64_t> parse_elements(std::string_view text, Tensor& tensor) {
  const int64_t count = tensor.element_count();
  int64_t found = 0;
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '[' || c == ']' || is_separator(c)) {
      depth += c == '[' ? 1 : c == ']' ? -1 : 0;
      if (depth < 0) return bad("inline value closes a bracket that is not open");
      ++at;
      continue;
    }
    const size_t stop = std::min(text.find_first_of(" ,\n\t\r[]", at), text.size());
    const std::string_view word = text.substr(at, stop - at);
    if (found < count && !set_element(tensor, found, word)) {
      return bad("\"" + std::string(word) + "\" is not a value of " +
                 std::string(name(tensor.dtype)));
    }
    ++found;
    at = stop;
  }
  if (depth != 0) return bad("inline value leaves a bracket open");
  return found;
}

template <class T>
std::string shortest(T value) {
  std::array<char, 40> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), result.ptr);
}

// Prints the elements of dimensions `dim` and up, starting at `index`, with brackets around rows.
void print_dims(const Tensor& tensor, size_t dim, int64_t& index, std::string& out) {
  if (dim == tensor.extents.size()) {
    out += format_number(tensor, index++);
    return;
  }
  const bool brackets = dim > 0 || tensor.extents.size() == 1;
  if (brackets) out += '[';
  for (int64_t i = 0; i < tensor.extents[dim]; ++i) {
    if (i > 0 && dim + 1 == tensor.extents.size()) out += ' ';
    print_dims(tensor, dim + 1, index, out);
  }
  if (brackets) out += ']';
}

}  // namespace

Expected<ShapeText> parse_shape_text(std::string_view text) {
  ShapeText out;
  text = trimmed(text);
  while (true) {
    if (const auto dtype = parse_dtype(text)) {
      out.dtype = *dtype;
      if (!element_count(out.extents)) return bad("a shape has too many elements");
      return out;
    }
    int64_t size = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), size);
    const auto used = static_cast<size_t>(end - text.data());
    if (code != std::errc() || size < 0 || text.substr(used, 1) != "x") {
      return bad("inline value must begin with sizes and a dtype, as in 2x3xf32=");
    }
    out.extents.push_back(size);
    text.remove_prefix(used + 1);
  }
}

std::string format_shape_text(DType dtype, const Extents& extents) {
  std::string out;
  for (const int64_t e : extents) out += std::to_string(e) + "x";
  return out + std::string(name(dtype));
}

std::string format_number(const Tensor& tensor, int64_t index) {
  if (tensor.dtype == DType::kU64) return shortest(static_cast<uint64_t>(tensor.get_int(index)));
  if (!is_float(tensor.dtype)) return shortest(tensor.get_int(index));
  const double value = tensor.get_double(index);
  if (std::isnan(value)) return "nan";
  return tensor.dtype == DType::kF64 ? shortest(value) : shortest(static_cast<float>(value));
}

Expected<Tensor> parse_inline_value(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) return bad("inline value has no \"=\"");
  HOSTIR_ASSIGN_OR_RETURN(ShapeText shape, parse_shape_text(text.substr(0, equals)));
  if (*element_count(shape.extents) > kMaxElements) {
    return bad("inline value has too many elements");
  }
  Tensor tensor = Tensor::zeros(shape.dtype, std::move(shape.extents));
  HOSTIR_ASSIGN_OR_RETURN(const int64_t found, parse_elements(text.substr(equals + 1), tensor));
  const int64_t count = tensor.element_count();
  if (found == 1 && count > 1) {
    const size_t width = static_cast<size_t>(size_bytes(tensor.dtype));
    for (size_t at = width; at < tensor.data.size(); ++at)
      tensor.data[at] = tensor.data[at - width];
    return tensor;
  }
  if (found != count) {
    return bad("inline value has " + std::to_string(found) + " numbers for " +
               std::to_string(count) + " elements");
  }
  return tensor;
}

std::string format_inline_value(const Tensor& tensor) {
  std::string out = format_shape_text(tensor.dtype, tensor.extents) + "=";
  int64_t index = 0;
  if (tensor.element_count() > 0) print_dims(tensor, 0, index, out);
  return out;
}

}  // namespace hostir
