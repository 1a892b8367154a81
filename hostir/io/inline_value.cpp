#include "hostir/io/inline_value.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <limits>

namespace hostir::io {

namespace {

constexpr int64_t kMaxInlineElements = int64_t{1} << 28;

tl::unexpected<Error> bad(const char* id, const std::string& why) {
  return fail(ErrorKind::kInvalid, id, "inline value: " + why);
}

// Reads numbers and brackets; the nesting of brackets is checked against the shape.
class Reader {
 public:
  Reader(std::string_view text, Tensor& out) : text_(text), out_(out) {}

  Expected<void> read() {
    if (peek() != '[') return scalar_or_splat();
    while (peek() == '[') HOSTIR_TRY(bracket(0));
    if (at_ < text_.size()) return bad("value_syntax", "unexpected '" + rest() + "'");
    if (count_ != out_.element_count()) return wrong_count();
    return {};
  }

 private:
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == ',' || text_[at_] == '\n'))
      ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::string rest() const { return std::string(text_.substr(at_, 20)); }
  tl::unexpected<Error> wrong_count() const {
    return bad("value_count",
               fmt::format("{} numbers for {} elements", count_, out_.element_count()));
  }

  Expected<void> scalar_or_splat() {
    const int64_t n = out_.element_count();
    if (peek() == '\0' && n == 0) return {};
    HOSTIR_TRY(number(0));
    if (peek() != '\0') return bad("value_syntax", "unexpected '" + rest() + "'");
    for (int64_t i = 1; i < n; ++i) {
      std::copy_n(out_.data.begin(), size_bytes(out_.dtype),
                  out_.data.begin() + i * size_bytes(out_.dtype));
    }
    return {};
  }

  // Elements that one bracket at this depth holds: `[..]` at depth 0 of a rank-1 value is the whole
  // value; of a rank-r value it is one row of the first dimension, and so on.
  int64_t elements_at(size_t depth) const {
    int64_t n = 1;
    const size_t rank = out_.extents.size();
    const size_t first = rank <= 1 ? depth : depth + 1;
    for (size_t d = first; d < rank; ++d) n *= out_.extents[d];
    return n;
  }

  Expected<void> bracket(size_t depth) {
    if (depth > out_.extents.size()) return bad("value_syntax", "brackets are nested too deep");
    ++at_;
    const int64_t begin = count_;
    while (peek() != ']') {
      if (peek() == '\0') return bad("value_syntax", "']' is missing");
      if (peek() == '[') {
        HOSTIR_TRY(bracket(depth + 1));
      } else {
        if (count_ >= out_.element_count()) return bad("value_count", "more numbers than elements");
        HOSTIR_TRY(number(count_));
        ++count_;
      }
    }
    ++at_;
    if (count_ - begin != elements_at(depth)) {
      return bad("value_count", fmt::format("a bracket holds {} numbers where the shape has {}",
                                            count_ - begin, elements_at(depth)));
    }
    return {};
  }

  Expected<void> number(int64_t index) {
    peek();
    size_t end = at_;
    while (end < text_.size() &&
           std::string_view(" ,\n[]").find(text_[end]) == std::string_view::npos) {
      ++end;
    }
    const std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    return store(word, index);
  }

  Expected<void> store(std::string_view word, int64_t index) {
    if (word == "true" || word == "false") {
      if (index < out_.element_count()) out_.set_int(index, word == "true" ? 1 : 0);
      return {};
    }
    if (!word.empty() && word.front() == '+') word.remove_prefix(1);
    if (is_float(out_.dtype)) {
      double value = 0;
      const auto [p, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error == std::errc::invalid_argument || p != word.data() + word.size())
        return not_a_number(word);
      if (error == std::errc::result_out_of_range)
        return bad("value_range", std::string(word) + " is out of range");
      if (index < out_.element_count()) out_.set_double(index, value);
      return {};
    }
    int64_t value = 0;
    const auto [p, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error == std::errc::invalid_argument || p != word.data() + word.size())
      return not_a_number(word);
    if (error == std::errc::result_out_of_range || !fits(value)) {
      return bad("value_range",
                 std::string(word) + " does not fit in " + std::string(name(out_.dtype)));
    }
    if (index < out_.element_count()) out_.set_int(index, value);
    return {};
  }

  tl::unexpected<Error> not_a_number(std::string_view word) const {
    return bad("value_syntax", "'" + std::string(word.substr(0, 40)) +
                                   "' is not a number of type " + std::string(name(out_.dtype)));
  }

  bool fits(int64_t value) const {
    if (out_.dtype == DType::kI1) return value == 0 || value == 1;
    if (out_.dtype == DType::kU8) return value >= 0 && value <= 255;
    if (out_.dtype == DType::kI8) return value >= -128 && value <= 127;
    if (out_.dtype == DType::kI32) {
      return value >= std::numeric_limits<int32_t>::min() &&
             value <= std::numeric_limits<int32_t>::max();
    }
    return true;
  }

  std::string_view text_;
  Tensor& out_;
  size_t at_ = 0;
  int64_t count_ = 0;
};

void append_elements(const Tensor& tensor, size_t dim, int64_t begin, std::string& out) {
  int64_t inner = 1;
  for (size_t d = dim + 1; d < tensor.extents.size(); ++d) inner *= tensor.extents[d];
  const bool last = dim + 1 == tensor.extents.size();
  for (int64_t i = 0; i < tensor.extents[dim]; ++i) {
    if (last) {
      out += (i ? " " : "") + format_number(tensor, begin + i);
    } else {
      out += '[';
      append_elements(tensor, dim + 1, begin + i * inner, out);
      out += ']';
    }
  }
}

std::string trimmed(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return std::string(s);
}

}  // namespace

Expected<ShapeText> parse_shape_text(std::string_view raw) {
  const std::string text = trimmed(raw);
  ShapeText out;
  size_t at = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9') {
    int64_t n = 0;
    const auto [p, error] = std::from_chars(text.data() + at, text.data() + text.size(), n);
    if (error != std::errc()) return bad("value_syntax", "a size does not fit in 64 bits");
    at = static_cast<size_t>(p - text.data());
    if (at >= text.size() || text[at] != 'x')
      return bad("value_syntax", "expected 'x' after a size in '" + text + "'");
    ++at;
    out.extents.push_back(n);
  }
  const auto dtype = parse_dtype(std::string_view(text).substr(at));
  if (!dtype) return bad("value_syntax", "'" + text.substr(at, 20) + "' is not a dtype");
  out.dtype = *dtype;
  const auto count = element_count(out.extents);
  if (!count || *count > kMaxInlineElements)
    return bad("value_count", "too many elements in '" + text + "'");
  return out;
}

Expected<Tensor> parse_inline_value(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return bad("value_syntax", "expected SHAPExDTYPE=NUMBERS, as in 2xf32=[1 2]");
  }
  HOSTIR_ASSIGN_OR_RETURN(const ShapeText shape, parse_shape_text(text.substr(0, equals)));
  Tensor out = Tensor::zeros(shape.dtype, shape.extents);
  // Read outside of memory is impossible: a splat writes element 0 only where there is one.
  Reader reader(text.substr(equals + 1), out);
  HOSTIR_TRY(reader.read());
  return out;
}

std::string format_number(const Tensor& tensor, int64_t index) {
  if (!is_float(tensor.dtype)) return std::to_string(tensor.get_int(index));
  const double value = tensor.get_double(index);
  if (std::isnan(value)) return "nan";
  if (tensor.dtype == DType::kF64) return fmt::format("{}", value);
  return fmt::format("{}", static_cast<float>(value));
}

std::string format_shape_text(DType dtype, const Extents& extents) {
  std::string out;
  for (const int64_t e : extents) out += std::to_string(e) + "x";
  return out + std::string(name(dtype));
}

std::string format_inline_value(const Tensor& tensor) {
  std::string out = format_shape_text(tensor.dtype, tensor.extents) + "=";
  if (tensor.extents.empty()) return out + format_number(tensor, 0);
  if (tensor.extents.size() == 1) out += '[';
  if (tensor.element_count() > 0) append_elements(tensor, 0, 0, out);
  if (tensor.extents.size() == 1) out += ']';
  return out;
}

}  // namespace hostir::io
