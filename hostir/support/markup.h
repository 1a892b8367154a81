// Text for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace hostir {

/// Safe as text and in quoted attributes. A control character other than a newline or tab becomes
/// `?`: XML 1.0 forbids them. Other bytes stay, UTF-8 or not.
std::string escape_markup(std::string_view text);

}  // namespace hostir
