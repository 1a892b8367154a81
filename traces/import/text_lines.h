// Lines and fields of text logs.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace hostir::traces::import {

/// Takes the next line off `rest`, without its end.
std::string_view take_line(std::string_view& rest);
std::vector<std::string_view> split(std::string_view text, char separator);
/// What stands behind `word` up to the next blank: `rank 3` with "rank " gives "3".
std::optional<std::string_view> word_after(std::string_view line, std::string_view word);
/// A number with or without 0x, of base 16.
std::optional<uint64_t> parse_hex(std::string_view text);
/// `0.104` as nanoseconds, exactly; a sign in front may be there.
std::optional<int64_t> parse_seconds(std::string_view text);

}  // namespace hostir::traces::import
