#include "interp/session/expressions/log_text.h"

#include <fmt/core.h>

#include <cmath>

#include "interp/session/expressions/expression_parser.h"
#include "interp/session/expressions/live_conditions.h"

namespace hostir::interp {
namespace {

// f32 numbers in their shortest form that reads back; others to nine digits.
std::string words_of(double value) {
  if (std::isnan(value)) return "nan";
  const auto narrow = static_cast<float>(value);
  if (static_cast<double>(narrow) == value) return fmt::format("{}", narrow);
  return fmt::format("{:.9g}", value);
}

std::string words_of(const ExpressionValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) return words_of(*d);
  return std::get<std::string>(value);
}

}  // namespace

Expected<LogText> parse_log_text(std::string_view text) {
  LogText out;
  Scanner in(text);
  std::string words;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool twice = at + 1 < text.size() && text[at + 1] == c;
    if ((c == '{' || c == '}') && twice) {
      words += c;
      at += 2;
    } else if (c == '}') {
      return in.error("a '}' without its '{'; \"}}\" writes one", at);
    } else if (c == '{') {
      in.rewind(at + 1);
      HOSTIR_ASSIGN_OR_RETURN(Expression asked, parse_expression(in));
      if (!in.take("}")) return in.error("expected '}' after the expression");
      out.pieces.push_back({std::move(words), std::move(asked)});
      words.clear();
      at = in.position();
    } else {
      words += c;
      ++at;
    }
  }
  if (!words.empty()) out.pieces.push_back({std::move(words), std::nullopt});
  return out;
}

Expected<void> check_names(const LogText& text, const Code& code) {
  for (const LogText::Piece& piece : text.pieces) {
    if (piece.asked) HOSTIR_TRY(check_condition(*piece.asked, code));
  }
  return {};
}

std::string fill(const LogText& text, const ExpressionLookup& lookup) {
  std::string out;
  for (const LogText::Piece& piece : text.pieces) {
    out += piece.words;
    if (!piece.asked) continue;
    const auto value = evaluate(*piece.asked, lookup);
    out += value ? words_of(*value) : fmt::format("<{}>", value.error().message());
  }
  return out;
}

}  // namespace hostir::interp
