// The lexer: one pass over the bytes of a part.
#include <algorithm>
#include <array>
#include <string>

#include "hostir/support/characters.h"
#include "hostir/text/parse/token.h"

namespace hostir::text {

namespace {

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

std::string_view trim_right(std::string_view s) {
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

// Longer marks come first, so that the first match is the longest.
constexpr std::array<std::string_view, 30> kPuncts = {
    "->", "..", "==", "!=", "<=", ">=", "&&", "||", "+=", "(", ")", "{", "}", "[", "]",
    "<",  ">",  ",",  ":",  "=",  "+",  "-",  "*",  "/",  "%", "#", ".", "?", "@", ";"};

class Lexer {
 public:
  Lexer(std::string_view text, uint32_t file, uint32_t begin, uint32_t end,
        std::vector<Diagnostic>& diagnostics)
      : text_(text.substr(0, end)), file_(file), at_(begin), diagnostics_(diagnostics) {}

  TokenStream run() {
    while (skip_to_token()) lex_token();
    push(TokenKind::kEnd, {}, at_, at_);
    return std::move(out_);
  }

 private:
  char peek(uint32_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  bool done() const { return too_many_errors_ || at_ >= text_.size(); }

  void push(TokenKind kind, std::string_view text, uint32_t begin, uint32_t end) {
    out_.tokens.push_back({kind, text, begin, end, static_cast<uint32_t>(out_.comments.size()),
                           line_has_token_ ? false : true});
    line_has_token_ = true;
    at_ = end;
  }

  // Skips blanks, newlines and comments; false at the end.
  bool skip_to_token() {
    while (!done()) {
      if (peek() == '\n') {
        if (!line_has_token_ && !line_has_comment_) add_blank_line();
        line_has_token_ = line_has_comment_ = false;
        ++at_;
      } else if (is_blank(peek())) {
        ++at_;
      } else if (peek() == '/' && peek(1) == '/') {
        lex_comment();
      } else {
        return true;
      }
    }
    return false;
  }

  void add_blank_line() {
    if (!out_.comments.empty() && out_.comments.back().kind == Comment::Kind::kBlankLine &&
        (out_.tokens.empty() || out_.tokens.back().comments_before < out_.comments.size())) {
      return;
    }
    out_.comments.push_back({Comment::Kind::kBlankLine, {}, true});
  }

  void lex_comment() {
    const size_t stop = std::min(text_.find('\n', at_), text_.size());
    std::string_view body = text_.substr(at_ + 2, stop - at_ - 2);
    at_ = static_cast<uint32_t>(stop);
    line_has_comment_ = true;
    if (body.substr(0, 1) == "=") return;
    if (const size_t derived = body.find("//="); derived != std::string_view::npos) {
      body = body.substr(0, derived);
    }
    Comment::Kind kind = Comment::Kind::kPlain;
    if (body.substr(0, 1) == "!") {
      kind = Comment::Kind::kDocumentation;
      body.remove_prefix(1);
    }
    if (body.substr(0, 1) == " ") body.remove_prefix(1);
    out_.comments.push_back({kind, trim_right(body), !line_has_token_});
  }

  void lex_token() {
    const uint32_t begin = at_;
    const char c = peek();
    if (in_shape_ && (is_digit(c) || c == '?' || c == '(')) return lex_shape();
    in_shape_ = false;
    if (is_word_start(c)) return lex_word();
    if (is_digit(c)) return lex_number();
    if (c == '%' && is_word_char(peek(1)) && !is_remainder()) return lex_name(TokenKind::kValue);
    if (c == '@' && is_word_char(peek(1))) return lex_name(TokenKind::kSymbol);
    if (c == '@' && peek(1) == '"') return lex_string(begin + 1, TokenKind::kSymbol);
    if (c == '?' && is_upper(peek(1))) return lex_name(TokenKind::kSize);
    if (c == '"') return lex_string(begin, TokenKind::kString);
    if (c == '{' && peek(1) == '{' && lex_raw()) return;
    lex_punct();
  }

  // In `rank%2`, the percent sign is an operator: it directly follows an operand and precedes a
  // digit.
  bool is_remainder() const {
    if (!is_digit(peek(1)) || out_.tokens.empty() || out_.tokens.back().end != at_) return false;
    const Token& before = out_.tokens.back();
    return before.kind != TokenKind::kPunct || before.text == ")";
  }

  void lex_word() {
    uint32_t end = at_;
    while (end < text_.size() && is_word_char(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    push(TokenKind::kWord, word, at_, end);
    shape_word_ = word == "tensor" || word == "shard";
  }

  // `%name`, `@name.part`, `?NAME`.
  void lex_name(TokenKind kind) {
    const uint32_t begin = at_;
    uint32_t end = at_ + 1;
    while (end < text_.size()) {
      const char c = text_[end];
      if (kind == TokenKind::kSize ? !(is_upper(c) || is_digit(c) || c == '_') : !is_word_char(c)) {
        // A dot belongs to the name if a word character follows: `@mlp.host`, `%w.grad`.
        const bool dot = c == '.' && kind != TokenKind::kSize && end + 1 < text_.size() &&
                         is_word_char(text_[end + 1]);
        if (!dot) break;
      }
      ++end;
    }
    push(kind, text_.substr(begin + 1, end - begin - 1), begin, end);
  }

  void lex_number() {
    uint32_t end = at_;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end < text_.size() && text_[end] == 'x') return lex_shape_word(end);
    bool is_float = false;
    if (end + 1 < text_.size() && text_[end] == '.' && is_digit(text_[end + 1])) {
      is_float = true;
      ++end;
      while (end < text_.size() && is_digit(text_[end])) ++end;
    }
    if (const uint32_t exponent = exponent_end(end); exponent != end) {
      is_float = true;
      end = exponent;
    }
    push(is_float ? TokenKind::kFloat : TokenKind::kInt, text_.substr(at_, end - at_), at_, end);
  }

  uint32_t exponent_end(uint32_t at) const {
    if (at >= text_.size() || (text_[at] != 'e' && text_[at] != 'E')) return at;
    uint32_t end = at + 1;
    if (end < text_.size() && (text_[end] == '+' || text_[end] == '-')) ++end;
    const uint32_t digits = end;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    return end == digits ? at : end;
  }

  // `4x8xf32` outside `tensor<...>`, as in generators in scripts.
  void lex_shape_word(uint32_t end) {
    while (end < text_.size() && (is_word_char(text_[end]) || text_[end] == '?')) ++end;
    push(TokenKind::kShape, text_.substr(at_, end - at_), at_, end);
  }

  // A shape in `tensor<` or `shard<`: up to `>`, or to `,` or a blank outside parentheses.
  void lex_shape() {
    in_shape_ = false;
    uint32_t end = at_;
    int depth = 0;
    while (end < text_.size() && text_[end] != '\n') {
      const char c = text_[end];
      if (c == '(') ++depth;
      if (c == ')') --depth;
      if (c == '>' || (depth <= 0 && (c == ',' || is_blank(c)))) break;
      ++end;
    }
    push(TokenKind::kShape, text_.substr(at_, end - at_), at_, end);
  }

  void lex_string(uint32_t quote, TokenKind kind) {
    const uint32_t begin = at_;
    uint32_t end = quote + 1;
    while (end < text_.size() && text_[end] != '"' && text_[end] != '\n') {
      end += text_[end] == '\\' && end + 1 < text_.size() && text_[end + 1] != '\n' ? 2u : 1u;
    }
    const bool closed = end < text_.size() && text_[end] == '"';
    if (!closed) error("syntax_c3", "string is not closed on its line", begin, end);
    push(kind, text_.substr(quote + 1, end - quote - 1), begin, closed ? end + 1 : end);
  }

  // `{{text}}` on one line. If there are more than two closing braces, the last two close it.
  bool lex_raw() {
    const size_t line_end = std::min(text_.find('\n', at_), text_.size());
    const size_t close = text_.substr(0, line_end).find("}}", at_ + 2);
    if (close == std::string_view::npos) return false;
    auto end = static_cast<uint32_t>(close + 2);
    while (end < line_end && text_[end] == '}') ++end;
    push(TokenKind::kRaw, text_.substr(at_ + 2, end - 2 - (at_ + 2)), at_, end);
    return true;
  }

  void lex_punct() {
    for (const std::string_view punct : kPuncts) {
      if (text_.substr(at_, punct.size()) != punct) continue;
      const bool shape_next = punct == "<" && shape_word_;
      push(TokenKind::kPunct, text_.substr(at_, punct.size()), at_,
           at_ + static_cast<uint32_t>(punct.size()));
      shape_word_ = false;
      in_shape_ = shape_next;
      return;
    }
    const uint32_t begin = at_;
    do {
      ++at_;
    } while (!done() && starts_no_token(peek()));
    error("syntax_c2", "bytes that do not start a token", begin, at_);
  }

  static bool starts_no_token(char c) {
    if (is_word_char(c) || is_blank(c) || c == '\n' || c == '"') return false;
    return std::none_of(kPuncts.begin(), kPuncts.end(),
                        [c](std::string_view p) { return p.front() == c; });
  }

  void error(std::string id, std::string message, uint32_t begin, uint32_t end) {
    too_many_errors_ = diagnostics_.size() >= kMaxDiagnostics;
    diagnostics_.push_back(
        {Severity::kError, std::move(id), std::move(message), {file_, begin, end}, {}});
  }

  std::string_view text_;
  uint32_t file_;
  uint32_t at_;
  std::vector<Diagnostic>& diagnostics_;
  TokenStream out_;
  bool too_many_errors_ = false;
  bool line_has_token_ = false;
  bool line_has_comment_ = false;
  bool shape_word_ = false;  // the last token was `tensor` or `shard`
  bool in_shape_ = false;    // the last tokens were `tensor <` or `shard <`
};

}  // namespace

TokenStream lex(const SourceManager& sources, uint32_t file, uint32_t begin, uint32_t end,
                std::vector<Diagnostic>& diagnostics) {
  return Lexer(sources.text(file), file, begin, end, diagnostics).run();
}

std::vector<SourceSpan> split_parts(const SourceManager& sources, uint32_t file) {
  const std::string_view text = sources.text(file);
  std::vector<SourceSpan> parts;
  uint32_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t stop = std::min(text.find('\n', at), text.size());
    std::string_view line = trim_right(text.substr(at, stop - at));
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line == "// -----" || line == "//-----") {
      parts.push_back({file, begin, static_cast<uint32_t>(at)});
      begin = static_cast<uint32_t>(std::min(stop + 1, text.size()));
    }
    at = stop + 1;
  }
  parts.push_back({file, begin, static_cast<uint32_t>(text.size())});
  return parts;
}

}  // namespace hostir::text
