#include "hostir/text/parse/cursor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "hostir/support/characters.h"
#include "hostir/support/lists.h"
#include "hostir/support/number_from.h"

namespace hostir::text {

namespace {

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kEnd:
      return "end of the text";
    case TokenKind::kValue:
      return "\"%" + std::string(token.text) + "\"";
    case TokenKind::kSymbol:
      return "\"@" + std::string(token.text) + "\"";
    case TokenKind::kSize:
      return "\"?" + std::string(token.text) + "\"";
    case TokenKind::kString:
      return "a string";
    case TokenKind::kRaw:
      return "\"{{\"";
    case TokenKind::kWord:
    case TokenKind::kInt:
    case TokenKind::kFloat:
    case TokenKind::kShape:
    case TokenKind::kPunct:
      break;
  }
  return "\"" + std::string(token.text) + "\"";
}

bool is_piece_word(std::string_view word) {
  constexpr std::array<std::string_view, 7> kWords = {"mesh",   "machine", "fusion", "gradient",
                                                      "kernel", "host",    "test"};
  return contains(kWords, word);
}

// True for words that continue an instruction on a new line.
bool continues_instruction(const Token& token) {
  constexpr std::array<std::string_view, 8> kWords = {"ro",   "wo",   "rw",    "on",
                                                      "from", "over", "carry", "else"};
  return contains(kWords, token.text);
}

}  // namespace

const Token& Cursor::peek(size_t ahead) const {
  return stream_.tokens[std::min(at_ + ahead, stream_.tokens.size() - 1)];
}

const Token& Cursor::next() {
  const Token& token = peek();
  if (token.is("{")) ++braces_;
  if (token.is("}")) --braces_;
  if (at_ + 1 < stream_.tokens.size()) ++at_;
  return token;
}

bool Cursor::accept(std::string_view text) {
  if (!at(text)) return false;
  next();
  return true;
}

bool Cursor::expect(std::string_view text) {
  if (accept(text)) return true;
  unexpected("\"" + std::string(text) + "\"");
  return false;
}

const Token* Cursor::expect(TokenKind kind, std::string_view what) {
  if (at(kind)) return &next();
  unexpected(what);
  return nullptr;
}

std::optional<std::string> Cursor::expect_symbol(std::string_view what) {
  const Token* token = expect(TokenKind::kSymbol, what);
  return token ? std::optional<std::string>(token->text) : std::nullopt;
}

SourceSpan Cursor::span_from(uint32_t begin) const {
  const uint32_t end = at_ > 0 ? stream_.tokens[at_ - 1].end : begin;
  return {file_, begin, std::max(begin, end)};
}

Diagnostic& Cursor::error(std::string id, std::string message, SourceSpan span) {
  diagnostics_.push_back({Severity::kError, std::move(id), std::move(message), span, {}});
  return diagnostics_.back();
}

void Cursor::unexpected(std::string_view what) {
  // If something is missing at the end of a line, point there and not at the next line.
  const bool missing = at_ > construct_ && !at_piece() && (peek().first_on_line || at_end());
  SourceSpan span = span_here();
  std::string found = describe(peek());
  if (missing) {
    const uint32_t end = stream_.tokens[at_ - 1].end;
    span = {file_, end, end + 1};
    if (!at_end()) found = "end of the line";
  }
  std::string message = "unexpected " + found + ", expected " + std::string(what);
  const auto is_number = [](const Token& t) {
    return t.kind == TokenKind::kInt || t.kind == TokenKind::kFloat;
  };
  const bool divides = at("/") && at_ > 0 && is_number(stream_.tokens[at_ - 1]);
  if (divides) message += ": a number is written out, as 0.125 and not 1/sqrt(64)";
  Diagnostic& made = error("syntax_c1", std::move(message), span);
  if (!divides) return;
  made.notes.push_back(
      {"attention without `scale` takes 1/sqrt(D), also of an unknown size ?D; elsewhere "
       "`constant {size = ?D}` and `rsqrt` compute it",
       {}});
}

std::vector<std::string> Cursor::take_comments(std::vector<std::string>* documentation) {
  std::vector<std::string> lines;
  for (; comment_at_ < peek().comments_before; ++comment_at_) {
    const Comment& c = stream_.comments[comment_at_];
    if (c.kind == Comment::Kind::kBlankLine) {
      if (lines.empty() || !lines.back().empty()) lines.emplace_back();
    } else if (c.kind == Comment::Kind::kDocumentation && documentation) {
      documentation->emplace_back(c.text);
    } else if (c.kind == Comment::Kind::kDocumentation) {
      lines.push_back("! " + std::string(c.text));
    } else {
      lines.push_back(c.text.empty() ? " " : std::string(c.text));
    }
  }
  return lines;
}

std::vector<std::string> Cursor::take_inner_comments() {
  std::vector<std::string> lines;
  const uint32_t end = at_ > 0 ? stream_.tokens[at_ - 1].comments_before : 0;
  for (; comment_at_ < end; ++comment_at_) {
    const Comment& c = stream_.comments[comment_at_];
    if (c.kind == Comment::Kind::kBlankLine) continue;
    lines.push_back(c.text.empty() ? " " : std::string(c.text));
  }
  return lines;
}

std::string Cursor::take_trailing_comment() {
  if (comment_at_ >= peek().comments_before) return {};
  const Comment& c = stream_.comments[comment_at_];
  if (c.own_line || c.kind == Comment::Kind::kBlankLine) return {};
  ++comment_at_;
  return c.text.empty() ? " " : std::string(c.text);
}

bool Cursor::at_piece() const {
  const Token& token = peek();
  if (token.kind != TokenKind::kWord || !token.first_on_line || !is_piece_word(token.text)) {
    return false;
  }
  return peek(1).kind == TokenKind::kSymbol || peek(1).kind == TokenKind::kString;
}

void Cursor::skip_region() {
  const int outside = braces_;
  next();
  while (!at_end() && !at_piece() && braces_ > outside) next();
}

void Cursor::skip_to_next_instruction(size_t start, int braces) {
  if (at_ == start && !at_end()) next();
  int open = std::max(0, braces_ - braces);
  while (!at_end() && !at_piece()) {
    const Token& token = peek();
    const bool starts = token.kind == TokenKind::kValue || token.is("}") ||
                        (token.kind == TokenKind::kWord && !continues_instruction(token));
    if (token.first_on_line && starts) break;
    if (token.is("}") && open == 0) break;
    if (token.is("{") && peek(1).first_on_line) {
      skip_region();  // the body belongs to the failed instruction
      continue;
    }
    if (token.is("{")) ++open;
    if (token.is("}")) --open;
    next();
  }
  braces_ = braces;
}

void Cursor::skip_to_next_piece() {
  while (!at_end() && !at_piece()) next();
  braces_ = 0;
}

void Cursor::skip_list_item() {
  int depth = 0;
  while (!at_end() && !at_piece()) {
    const Token& token = peek();
    if (depth == 0 && (token.is(",") || token.is(")") || token.is("}") || token.is("]"))) return;
    if (token.is("(") || token.is("[") || token.is("{")) ++depth;
    if (token.is(")") || token.is("]") || token.is("}")) --depth;
    next();
  }
}

void Cursor::skip_parameter() {
  int depth = 0;
  while (!at_end() && !at_piece()) {
    const Token& token = peek();
    const Token& after = peek(1);
    if (token.is("(")) ++depth;
    if (token.is(")") && depth-- == 0) return;
    const bool declaration = (after.kind == TokenKind::kValue && peek(2).is(":")) ||
                             after.is("inout") || after.is("tensor") || after.is("shard");
    if (token.is(",") && depth == 0 && declaration) return;
    if (token.is("{") && after.first_on_line) return;
    next();
  }
}

bool Cursor::Nesting::ok() {
  if (cursor_.nesting_ <= kMaxNesting) return true;
  cursor_.error("syntax_c5", "nested too deeply", cursor_.span_here());
  return false;
}

std::optional<int64_t> parse_int(Cursor& cursor, std::string_view what) {
  const Token first = cursor.peek();
  const bool negative = cursor.at("-") && cursor.peek(1).kind == TokenKind::kInt;
  if (negative) cursor.next();
  const Token* digits = cursor.expect(TokenKind::kInt, what);
  if (!digits) return std::nullopt;
  const std::string text = (negative ? "-" : "") + std::string(digits->text);
  if (const auto value = number_from<int64_t>(text)) return value;
  cursor.error("syntax_c4", "number does not fit in 64 bits", cursor.span_from(first.begin));
  return std::nullopt;
}

std::optional<double> parse_number(Cursor& cursor) {
  const Token first = cursor.peek();
  const double sign = cursor.accept("-") ? -1 : 1;
  if (cursor.accept("inf")) return sign * std::numeric_limits<double>::infinity();
  if (cursor.accept("nan")) return std::numeric_limits<double>::quiet_NaN();
  if (!cursor.at(TokenKind::kInt) && !cursor.at(TokenKind::kFloat)) {
    cursor.unexpected("a number");
    return std::nullopt;
  }
  const bool is_integer = cursor.at(TokenKind::kInt);
  const std::string_view text = cursor.next().text;
  double value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (is_integer && value >= 0x1p53) {
    // Numbers are doubles: 9007199254740993 would silently become 9007199254740992.
    cursor.error("syntax_c4", "integers from 2^53 on are given as data: {data = \"1xi64=[...]\"}",
                 cursor.span_from(first.begin));
    return std::nullopt;
  }
  if (code == std::errc() && end == text.data() + text.size()) return sign * value;
  cursor.error("syntax_c4", "number does not fit in a double", cursor.span_from(first.begin));
  return std::nullopt;
}

std::optional<std::string> parse_string(Cursor& cursor, std::string_view what) {
  const Token* token = cursor.expect(TokenKind::kString, what);
  if (!token) return std::nullopt;
  std::string out;
  for (size_t i = 0; i < token->text.size(); ++i) {
    char c = token->text[i];
    if (c == '\\' && i + 1 < token->text.size()) {
      c = token->text[++i];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
    }
    out += c;
  }
  return out;
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string symbol_text(std::string_view name) {
  bool plain = !name.empty() && is_word_char(name.front());
  for (size_t i = 0; i < name.size(); ++i) {
    const bool inner_dot = name[i] == '.' && i + 1 < name.size() && is_word_char(name[i + 1]);
    plain = plain && (is_word_char(name[i]) || inner_dot);
  }
  return plain ? "@" + std::string(name) : "@\"" + std::string(name) + "\"";
}

std::string number_to_string(double value) {
  std::array<char, 40> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string out(buffer.data(), result.ptr);
  if (std::isnan(value)) return "nan";
  if (out.find_first_of(".en") == std::string::npos) out += ".0";
  return out;
}

}  // namespace hostir::text
