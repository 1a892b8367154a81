#include "hostir/import/hlo/hlo_text.h"

#include <charconv>

#include "hostir/support/characters.h"
#include "hostir/support/text.h"

namespace hostir::importer {

namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxInstructions = 4'000'000;

bool is_name_char(char c) {
  return is_word_char(c) || c == '-' || c == '.' || c == '$' || c == ':';
}

std::string mlir_element(std::string_view hlo) {
  if (hlo == "pred") return "i1";
  if (hlo == "f8e4m3fn") return "f8E4M3FN";
  if (hlo == "f8e5m2") return "f8E5M2";
  if (hlo.size() > 1 && hlo[0] == 's' && hlo[1] >= '0' && hlo[1] <= '9')
    return "i" + std::string(hlo.substr(1));
  if (hlo.size() > 1 && hlo[0] == 'u' && hlo[1] >= '0' && hlo[1] <= '9')
    return "ui" + std::string(hlo.substr(1));
  if (hlo == "c64") return "complex<f32>";
  if (hlo == "c128") return "complex<f64>";
  return std::string(hlo);
}

template <class Pairs>
std::string_view attribute_in(const Pairs& pairs, std::string_view key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return value;
  }
  return {};
}

class HloReader {
 public:
  HloReader(uint32_t file, std::string_view text) : file_(file), text_(text) {}

  Expected<HloText> read() {
    HloText out;
    read_header(out);
    while (at_ < text_.size()) {
      const std::string_view line = line_here();
      if (!begins_computation(line)) {
        at_ = std::min(at_ + line.size() + 1, text_.size());
        continue;
      }
      HloComputation computation;
      if (!read_computation(computation)) return tl::unexpected(std::move(*error_));
      out.computations.push_back(std::move(computation));
    }
    if (out.entry() == nullptr) {
      return fail_at(ErrorKind::kInvalid, "hlo_syntax", "the text has no ENTRY computation",
                     {file_, 0, 0});
    }
    return out;
  }

 private:
  std::string_view line_here() const {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    return text_.substr(at_, end - at_);
  }

  // `ENTRY %main (...) -> ... {` and `%f (...) {`. Lines of file and stack frame tables begin with
  // digits or have no brace.
  static bool begins_computation(std::string_view line) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() || line.back() != '{') return false;
    return line.front() == '%' || line.starts_with("ENTRY ") ||
           (is_name_char(line.front()) && !(line.front() >= '0' && line.front() <= '9'));
  }

  bool error(std::string message, size_t begin, size_t end) {
    if (!error_) {
      error_ = Error{ErrorKind::kInvalid,
                     {{Severity::kError,
                       "hlo_syntax",
                       std::move(message),
                       {file_, static_cast<uint32_t>(begin),
                        static_cast<uint32_t>(std::min(end, text_.size()))},
                       {}}}};
    }
    return false;
  }

  bool unexpected(std::string_view wanted) {
    const std::string found =
        at_ < text_.size() ? "\"" + std::string(1, text_[at_]) + "\"" : "the end of the text";
    return error("unexpected " + found + ", expected " + std::string(wanted), at_, at_ + 1);
  }

  // Skips blanks, /* comments */ and // comments, and newlines if `lines` is set.
  void skip(bool lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n'))
        ++at_;
      else if (text_.substr(at_, 2) == "//")
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (text_.substr(at_, 2) == "/*")
        at_ = std::min(text_.find("*/", at_), text_.size() - 2) + 2;
      else
        break;
    }
  }

  bool accept(std::string_view mark) {
    skip(false);
    if (!text_.substr(at_).starts_with(mark)) return false;
    at_ += mark.size();
    return true;
  }

  bool expect(std::string_view mark) {
    return accept(mark) || unexpected("\"" + std::string(mark) + "\"");
  }

  std::string read_name() {
    skip(false);
    if (at_ < text_.size() && text_[at_] == '%') ++at_;
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void read_header(HloText& out) {
    accept("HloModule");
    out.name = read_name();
    read_attributes(out.attributes);
  }

  // Reads `, key=value` up to the end of the line. A value ends at a comma outside brackets and
  // strings.
  bool read_attributes(std::vector<std::pair<std::string, std::string>>& out) {
    while (accept(",")) {
      std::string key = read_name();
      if (key.empty()) return unexpected("the name of an attribute");
      if (!accept("=")) {
        out.emplace_back(std::move(key), "");
        continue;
      }
      const size_t begin = at_;
      if (!skip_value(",\n")) return false;
      out.emplace_back(std::move(key), std::string(text_.substr(begin, at_ - begin)));
    }
    return true;
  }

  // Skips to one of `ends` outside brackets and strings.
  bool skip_value(std::string_view ends) {
    const size_t begin = at_;
    std::string open;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (open.empty() && ends.find(c) != std::string_view::npos) return true;
      if (c == '"') {
        for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
          if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
        }
        if (at_ >= text_.size()) break;
      } else if (c == '{' || c == '(' || c == '[') {
        open += c;
        if (open.size() > 4096) return error("nested too deeply", begin, at_);
      } else if (c == '}' || c == ')' || c == ']') {
        if (open.empty()) return true;
        open.pop_back();
      }
      ++at_;
    }
    return open.empty() || error("this bracket is not closed", begin, begin + 1);
  }

  bool read_shape(HloShape& out, int depth) {
    skip(false);
    if (depth > kMaxDepth) return error("nested deeper than 64 levels", at_, at_ + 1);
    if (accept("(")) {
      out.type.kind = ModuleType::Kind::kTuple;
      while (!accept(")")) {
        HloShape part;
        if (!read_shape(part, depth + 1)) return false;
        out.type.parts.push_back(part.type);
        out.parts.push_back(std::move(part));
        if (!accept(",") && at_ < text_.size() && text_[at_] != ')')
          return unexpected("\",\" or \")\"");
      }
      return true;
    }
    const size_t begin = at_;
    const std::string element = read_name();
    if (element.empty()) return unexpected("a shape");
    if (!accept("[")) return unexpected("\"[\"");
    std::vector<int64_t> dims;
    while (!accept("]")) {
      accept("<=");  // a bounded size: use the bound
      const auto size = read_integer();
      if (!size || *size < 0 || *size > (int64_t{1} << 48)) return error("not a size", begin, at_);
      dims.push_back(*size);
      if (!accept(",") && at_ < text_.size() && text_[at_] != ']')
        return unexpected("\",\" or \"]\"");
    }
    if (element == "token" || element == "opaque") {
      out.type.element = element;
    } else {
      out.type = tensor_type(mlir_element(element), std::move(dims));
      if (out.type.element_count() < 0)
        return error("an array with more than 2^63 elements", begin, at_);
    }
    if (at_ < text_.size() && text_[at_] == '{') {
      ++at_;
      while (at_ < text_.size() && text_[at_] != ':' && text_[at_] != '}') {
        const auto dim = read_integer();
        if (!dim) return unexpected("a dimension");
        out.minor_to_major.push_back(*dim);
        if (!accept(",")) break;
      }
      const size_t rest = at_;
      if (!skip_value("}")) return false;
      out.tiles = tiles_in(text_.substr(rest, at_ - rest));
      return expect("}");
    }
    return true;
  }

  // `:T(8,128)(2,1)S(1)` has `T(8,128)(2,1)`. The rest says where the bytes are, and how wide.
  static std::string tiles_in(std::string_view layout) {
    const size_t begin = layout.find("T(");
    if (begin == std::string_view::npos) return {};
    size_t end = begin + 1;
    while (end < layout.size() && layout[end] == '(')
      end = std::min(layout.find(')', end), layout.size() - 1) + 1;
    return std::string(layout.substr(begin, end - begin));
  }

  std::optional<int64_t> read_integer() {
    skip(false);
    int64_t value = 0;
    const auto [end, bad] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (bad != std::errc()) return std::nullopt;
    at_ = static_cast<size_t>(end - text_.data());
    return value;
  }

  bool read_computation(HloComputation& out) {
    skip(true);
    out.is_entry = accept("ENTRY ");
    out.name = read_name();
    const std::string_view line = line_here();
    at_ = std::min(at_ + line.size() + 1, text_.size());
    while (true) {
      skip(true);
      if (at_ >= text_.size()) return error("nothing closes computation " + out.name, at_, at_);
      if (text_[at_] == '}') {
        at_ = std::min(at_ + line_here().size() + 1, text_.size());
        return true;
      }
      if (++instructions_ > kMaxInstructions) return error("too many instructions", at_, at_ + 1);
      HloInstruction instruction;
      if (!read_instruction(instruction)) return false;
      out.instructions.push_back(std::move(instruction));
    }
  }

  bool read_instruction(HloInstruction& out) {
    out.is_root = accept("ROOT ");
    skip(false);
    const size_t begin = at_;
    out.name = read_name();
    out.span = {file_, static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
    if (out.name.empty()) return unexpected("an instruction");
    if (!expect("=") || !read_shape(out.shape, 0)) return false;
    out.opcode = read_name();
    if (out.opcode.empty()) return unexpected("an opcode");
    if (!expect("(")) return false;
    const size_t inside = at_;
    if (out.opcode == "constant") {
      if (!skip_value(")")) return false;
      out.literal = std::string(text_.substr(inside, at_ - inside));
    } else if (out.opcode == "parameter") {
      const auto number = read_integer();
      if (!number || *number < 0 || *number > 1'000'000)
        return unexpected("the number of a parameter");
      out.parameter = *number;
    } else if (!read_operands(out)) {
      return false;
    }
    return expect(")") && read_attributes(out.attributes);
  }

  // `%a, f32[2]{0} %b, /*index=5*/ %c`: takes the last name of each operand.
  bool read_operands(HloInstruction& out) {
    while (true) {
      skip(false);
      if (at_ >= text_.size() || text_[at_] == '\n') return unexpected("\")\"");
      if (text_[at_] == ')') return true;
      const size_t begin = at_;
      if (!skip_value(",)")) return false;
      std::string_view operand = trimmed(text_.substr(begin, at_ - begin));
      const size_t blank = operand.find_last_of(" /");
      if (blank != std::string_view::npos) operand.remove_prefix(blank + 1);
      if (operand.starts_with('%')) operand.remove_prefix(1);
      if (operand.empty()) return error("expected the name of an operand", begin, at_);
      out.operands.emplace_back(operand);
      accept(",");
    }
  }

  uint32_t file_;
  std::string_view text_;
  size_t at_ = 0;
  size_t instructions_ = 0;
  std::optional<Error> error_;
};

}  // namespace

std::string_view HloInstruction::attribute(std::string_view key) const {
  return attribute_in(attributes, key);
}

std::string_view HloText::attribute(std::string_view key) const {
  return attribute_in(attributes, key);
}

const HloInstruction* HloComputation::find(std::string_view instruction) const {
  for (const HloInstruction& i : instructions) {
    if (i.name == instruction) return &i;
  }
  return nullptr;
}

const HloInstruction* HloComputation::root() const {
  for (const HloInstruction& i : instructions) {
    if (i.is_root) return &i;
  }
  return instructions.empty() ? nullptr : &instructions.back();
}

const HloComputation* HloText::find(std::string_view computation) const {
  if (computation.starts_with('%')) computation.remove_prefix(1);
  for (const HloComputation& c : computations) {
    if (c.name == computation) return &c;
  }
  return nullptr;
}

const HloComputation* HloText::entry() const {
  for (const HloComputation& c : computations) {
    if (c.is_entry) return &c;
  }
  return nullptr;
}

Expected<HloText> read_hlo_text(const SourceManager& sources, uint32_t file) {
  return HloReader(file, sources.text(file)).read();
}

std::vector<int64_t> integers_in(std::string_view text) {
  std::vector<int64_t> out;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    int64_t value = 0;
    const auto [rest, bad] = std::from_chars(at, end, value);
    if (bad == std::errc()) {
      out.push_back(value);
      at = rest;
    } else {
      ++at;
    }
  }
  return out;
}

}  // namespace hostir::importer
