// Lines and fields of text logs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace hostir::traces::import {

/// Removes the next line from `rest` and returns it without its line end.
std::string_view take_line(std::string_view& rest);
/// The text after `word`, up to the next blank or `]`: `rank 3` with "rank " gives "3". `word`
/// counts only at the start of the line or after a blank or `[`.
std::optional<std::string_view> word_after(std::string_view line, std::string_view word);
/// The same as a decimal number.
std::optional<int64_t> number_after(std::string_view line, std::string_view word);
/// A hexadecimal number with or without 0x.
std::optional<uint64_t> parse_hex(std::string_view text);
/// `0.104` seconds as exact nanoseconds, with an optional sign.
std::optional<int64_t> parse_seconds(std::string_view text);

}  // namespace hostir::traces::import
