#include "interp/session/commands/scanner.h"

#include <fmt/core.h>

#include <charconv>

#include "hostir/support/characters.h"
#include "hostir/support/text.h"

namespace hostir::interp {

namespace {
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
}  // namespace

void Scanner::skip_blanks() {
  while (position_ < line_.size() && is_blank(line_[position_])) ++position_;
}

bool Scanner::at_end() {
  skip_blanks();
  return position_ >= line_.size();
}

std::string_view Scanner::rest() {
  skip_blanks();
  return trimmed(line_.substr(position_));
}

char Scanner::peek() { return at_end() ? '\0' : line_[position_]; }

bool Scanner::take(std::string_view token) {
  skip_blanks();
  if (line_.substr(position_, token.size()) != token) return false;
  const size_t after = position_ + token.size();
  if (is_word_char(token.back()) && after < line_.size() && is_word_char(line_[after]))
    return false;
  position_ = after;
  return true;
}

std::string_view Scanner::word() {
  skip_blanks();
  const size_t begin = position_;
  if (begin >= line_.size() || !is_word_start(line_[begin])) return {};
  while (position_ < line_.size() && is_word_char(line_[position_])) ++position_;
  return line_.substr(begin, position_ - begin);
}

std::string_view Scanner::dotted_word() {
  skip_blanks();
  if (position_ >= line_.size() || !is_word_start(line_[position_])) return {};
  return dotted_run();
}

std::string_view Scanner::value_word() {
  skip_blanks();
  if (position_ >= line_.size() || !is_word_char(line_[position_])) return {};
  return dotted_run();
}

std::string_view Scanner::dotted_run() {
  const size_t begin = position_;
  while (position_ < line_.size() && is_word_char(line_[position_])) {
    while (position_ < line_.size() && is_word_char(line_[position_])) ++position_;
    if (position_ + 1 < line_.size() && line_[position_] == '.' &&
        is_word_char(line_[position_ + 1]))
      ++position_;
  }
  return line_.substr(begin, position_ - begin);
}

std::optional<int64_t> Scanner::integer() {
  skip_blanks();
  int64_t value = 0;
  const char* begin = line_.data() + position_;
  const char* end = line_.data() + line_.size();
  const auto [after, status] = std::from_chars(begin, end, value);
  if (status != std::errc{}) return std::nullopt;
  position_ += static_cast<size_t>(after - begin);
  return value;
}

std::optional<std::string> Scanner::quoted() {
  if (peek() != '"') return std::nullopt;
  std::string out;
  for (size_t i = position_ + 1; i < line_.size(); ++i) {
    if (line_[i] == '"') {
      position_ = i + 1;
      return out;
    }
    if (line_[i] == '\\' && i + 1 < line_.size()) ++i;
    out += line_[i];
  }
  return std::nullopt;
}

tl::unexpected<Error> Scanner::error(std::string_view message, size_t position) const {
  std::string shown;
  for (const char c : line_) shown += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return fail(ErrorKind::kUsage, "command",
              fmt::format("{}\n  {}\n  {:>{}}", message, shown, "^", position + 1));
}

}  // namespace hostir::interp
