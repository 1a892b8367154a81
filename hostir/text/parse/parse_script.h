// Shared by the parsers of `test` pieces: values, tolerances and small helpers.
#pragma once

#include <optional>
#include <utility>

#include "hostir/text/parse/cursor.h"

namespace hostir::text {

/// `"2xf32=[1 2]"`, `@file.npy`, `%name` or a generator.
std::optional<ValueSpec> parse_value(Cursor& cursor);
/// `exact`, `ulp(4)`, `atol(a) rtol(r)`, optionally inside `tolerance(...)`; the default if absent.
std::optional<Tolerance> parse_tolerance(Cursor& cursor);
/// `run @f(...) options`, after the keyword.
std::optional<RunStatement> parse_run(Cursor& cursor);

inline std::optional<uint64_t> parse_seed(Cursor& cursor) {
  const auto value = parse_int(cursor);
  return value ? std::optional(static_cast<uint64_t>(*value)) : std::nullopt;
}

/// Parses `(`, calls `read`, parses `)`.
template <class Read>
bool in_parentheses(Cursor& cursor, const Read& read) {
  return cursor.expect("(") && read() && cursor.expect(")");
}

/// Stores the result of `read`; false if that is empty.
template <class T, class Read>
bool read_into(T& target, const Read& read) {
  auto value = read();
  if (!value) return false;
  target = std::move(*value);
  return true;
}

}  // namespace hostir::text
