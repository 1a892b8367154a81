#include "hostir/import/mlir/mlir_lexer.h"

#include <algorithm>
#include <optional>

#include "hostir/support/characters.h"

namespace hostir::importer {

namespace {

bool is_word_part(char c) { return is_word_char(c) || c == '.' || c == '$'; }
bool is_name_part(char c) { return is_word_part(c) || c == '-'; }

template <class Predicate>
size_t run_end(std::string_view text, size_t from, Predicate part) {
  while (from < text.size() && part(text[from])) ++from;
  return from;
}

size_t string_end(std::string_view text, size_t from) {
  for (size_t i = from + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      return i + 1;
  }
  return text.size();
}

size_t number_end(std::string_view text, size_t from) {
  size_t i = from + (text[from] == '-' ? 1 : 0);
  if (text.substr(i, 2) == "0x" && i + 2 < text.size() && hex_digit(text[i + 2])) {
    return run_end(text, i + 2, [](char c) { return hex_digit(c).has_value(); });
  }
  i = run_end(text, i, is_digit);
  if (i + 1 < text.size() && text[i] == '.' && is_digit(text[i + 1]))
    i = run_end(text, i + 1, is_digit);
  else if (i < text.size() && text[i] == '.')
    ++i;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    size_t digits = i + 1;
    if (digits < text.size() && (text[digits] == '+' || text[digits] == '-')) ++digits;
    if (digits < text.size() && is_digit(text[digits])) i = run_end(text, digits, is_digit);
  }
  return i;
}

size_t skip_blanks(std::string_view text, size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else {
      break;
    }
  }
  return at;
}

struct Lexeme {
  MlirTokenKind kind;
  size_t end;
};

Lexeme sigil_token(std::string_view text, size_t at) {
  const size_t first = at + 1;
  switch (text[at]) {
    case '%': {
      size_t end = run_end(text, first, is_name_part);
      // In `%0->` the dash belongs to the arrow.
      while (end > first && text[end - 1] == '-') --end;
      if (end < text.size() && text[end] == '#' && end + 1 < text.size() &&
          is_digit(text[end + 1])) {
        end = run_end(text, end + 1, is_digit);
      }
      return {MlirTokenKind::kValue, end};
    }
    case '@':
      if (first < text.size() && text[first] == '"')
        return {MlirTokenKind::kSymbol, string_end(text, first)};
      return {MlirTokenKind::kSymbol, run_end(text, first, is_name_part)};
    case '^':
      return {MlirTokenKind::kBlock, run_end(text, first, is_word_part)};
    case '#':
      return {MlirTokenKind::kHash, run_end(text, first, is_word_part)};
    default:
      return {MlirTokenKind::kBang, run_end(text, first, is_word_part)};
  }
}

Lexeme lexeme_at(std::string_view text, size_t at) {
  const char c = text[at];
  if (c == '%' || c == '@' || c == '^' || c == '#' || c == '!') return sigil_token(text, at);
  if (c == '"') return {MlirTokenKind::kString, string_end(text, at)};
  if (is_word_start(c)) return {MlirTokenKind::kWord, run_end(text, at, is_word_part)};
  if (text.substr(at, 2) == "->") return {MlirTokenKind::kMark, at + 2};
  const bool negative = c == '-' && at + 1 < text.size() && is_digit(text[at + 1]);
  if (is_digit(c) || negative) return {MlirTokenKind::kNumber, number_end(text, at)};
  return {MlirTokenKind::kMark, at + 1};
}

}  // namespace

MlirToken MlirLexer::at(uint32_t position) const {
  const size_t begin = skip_blanks(text_, position);
  MlirToken token;
  token.begin = static_cast<uint32_t>(begin);
  token.end = token.begin;
  if (begin >= text_.size()) return token;
  const Lexeme lexeme = lexeme_at(text_, begin);
  token.kind = lexeme.kind;
  token.end = static_cast<uint32_t>(lexeme.end);
  token.text = text_.substr(begin, lexeme.end - begin);
  return token;
}

std::string unescaped(std::string_view quoted) {
  if (quoted.size() >= 2 && quoted.front() == '"' && quoted.back() == '"') {
    quoted = quoted.substr(1, quoted.size() - 2);
  }
  std::string out;
  for (size_t i = 0; i < quoted.size(); ++i) {
    if (quoted[i] != '\\' || i + 1 >= quoted.size()) {
      out += quoted[i];
      continue;
    }
    const char next = quoted[++i];
    const auto high = hex_digit(next);
    const auto low = i + 1 < quoted.size() ? hex_digit(quoted[i + 1]) : std::nullopt;
    if (next == 'n') {
      out += '\n';
    } else if (next == 't') {
      out += '\t';
    } else if (high && low) {
      out += static_cast<char>(*high * 16 + *low);
      ++i;
    } else {
      out += next;
    }
  }
  return out;
}

std::string symbol_name(std::string_view token) {
  token.remove_prefix(1);
  return token.starts_with('"') ? unescaped(token) : std::string(token);
}

}  // namespace hostir::importer
