// Escapes text for XML, HTML and CSV.
#pragma once

#include <string>
#include <string_view>

namespace hostir {

/// Safe as text and in quoted attributes. A control character other than a newline or tab becomes
/// `?`: XML 1.0 forbids them. Other bytes stay, UTF-8 or not.
std::string escape_markup(std::string_view text);

/// A field of a CSV file, in quotes if it needs them.
std::string csv_field(std::string_view text);

}  // namespace hostir
