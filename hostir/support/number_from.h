// Numbers written as text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <type_traits>

namespace hostir {

/// The number that `text` spells; nullopt if `text` is not exactly a number, or if it is out of
/// range. `base`: of whole numbers.
template <class Number>
std::optional<Number> number_from(std::string_view text, [[maybe_unused]] int base = 10) {
  Number value{};
  const char* end = text.data() + text.size();
  std::from_chars_result read{};
  if constexpr (std::is_floating_point_v<Number>) {
    read = std::from_chars(text.data(), end, value);
  } else {
    read = std::from_chars(text.data(), end, value, base);
  }
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace hostir
