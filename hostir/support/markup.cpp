#include "hostir/support/markup.h"

namespace hostir {

std::string escape_markup(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') ? '?' : c;
    }
  }
  return out;
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

namespace {
// What Terminal and render() write.
constexpr std::string_view kTerminalStyles[] = {"\x1b[0m",    "\x1b[1m",   "\x1b[2m",
                                                "\x1b[31m",   "\x1b[32m",  "\x1b[1;31m",
                                                "\x1b[1;33m", "\x1b[1;36m"};
}  // namespace

std::string escape_terminal(std::string_view text) {
  const auto is_control = [&](size_t i) {
    const auto c = static_cast<unsigned char>(text[i]);
    const auto before = static_cast<unsigned char>(i > 0 ? text[i - 1] : 0);
    // U+0080 to U+009F in UTF-8. Terminals treat each as ESC and a letter.
    const bool is_c1 = before == 0xc2 && c >= 0x80 && c < 0xa0;
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f || is_c1;
  };
  std::string out(text);
  for (size_t i = 0; i < text.size(); ++i) {
    if (!is_control(i)) continue;
    bool is_colour = false;
    for (const std::string_view code : kTerminalStyles)
      is_colour |= text.substr(i).starts_with(code);
    if (is_colour) continue;
    out[i] = '?';
    if (static_cast<unsigned char>(text[i]) >= 0x80) out[i - 1] = '?';
  }
  return out;
}

}  // namespace hostir
