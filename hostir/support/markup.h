// Escapes text for XML, HTML, CSV and terminals.
#pragma once

#include <string>
#include <string_view>

namespace hostir {

/// Safe as text and in quoted attributes. A control character other than a newline or tab becomes
/// `?`: XML 1.0 forbids them. Other bytes stay, UTF-8 or not.
std::string escape_markup(std::string_view text);

/// A field of a CSV file, in quotes if it needs them.
std::string csv_field(std::string_view text);

/// Safe on a terminal: names from a stranger's file could clear the screen, write a false verdict
/// or change the clipboard. A control character other than a newline or tab becomes `?`; the
/// colours of our own messages stay.
std::string escape_terminal(std::string_view text);

}  // namespace hostir
