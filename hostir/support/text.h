// One of each text helper: sizes in bytes, tables, lists of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hostir {

/// `512 B`, `64 KiB`, `1.5 MiB`: exact where a whole number of units has at most four digits.
std::string bytes_text(int64_t bytes);

/// `450 ns`, `12.5 us`: up to four digits.
std::string time_text(double ns);
inline std::string time_text(int64_t ns) { return time_text(static_cast<double>(ns)); }

/// Rows of cells (UTF-8) as lines of columns two blanks apart; columns with `right` set are
/// right-aligned. No blanks at the end of a line.
std::string aligned(const std::vector<std::vector<std::string>>& rows,
                    const std::vector<bool>& right = {});

struct RangeStyle {
  const char* prefix = "";  // before each number
  size_t shortest = 4;      // shorter runs of consecutive numbers are listed one by one
  size_t most = SIZE_MAX;   // pieces; what does not fit is counted: ` and 12 more`
};
/// `0..7, 12`: consecutive numbers by the first and the last.
std::string ranges_text(std::span<const int32_t> numbers, const RangeStyle& style = {});

/// `[1, 2]`.
std::string index_text(std::span<const int64_t> index);

/// `1 rank`, `3 ranks`.
std::string counted(size_t n, std::string_view one);

/// Without blanks, tabs and line ends at both ends.
std::string_view trimmed(std::string_view text);

/// The pieces between separators; at least one.
std::vector<std::string_view> split(std::string_view text, char separator);

}  // namespace hostir
