// ASCII character classes, independent of the locale.
#pragma once

#include <optional>

namespace hostir {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Starts a word: a letter or `_`.
constexpr bool is_word_start(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

constexpr bool is_word_char(char c) { return is_word_start(c) || is_digit(c); }

constexpr std::optional<int> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

}  // namespace hostir
