// The parser's position in a token stream: look-ahead, expectation, recovery, comments.
//
// Every parse function takes a Cursor and returns nullopt or false after it has reported exactly
// one diagnostic. The cursor counts braces, so that recovery knows which of them belong to the
// construct that failed. Nesting is limited, so that no text can exhaust the stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/text/token.h"

namespace hostir::text {

inline constexpr int kMaxNesting = 128;

class Cursor {
 public:
  Cursor(uint32_t file, const TokenStream& stream, std::vector<Diagnostic>& diagnostics)
      : file_(file), stream_(stream), diagnostics_(diagnostics) {}

  const Token& peek(size_t ahead = 0) const;
  const Token& next();
  bool at(std::string_view text) const { return peek().is(text); }
  bool at(TokenKind kind) const { return peek().kind == kind; }
  bool at_end() const { return at(TokenKind::kEnd); }
  /// Consumes the token if it is this word or mark.
  bool accept(std::string_view text);
  /// Consumes it or reports `unexpected X, expected "text"`.
  bool expect(std::string_view text);
  /// Consumes a token of the kind or reports; `what` names it: "a value name".
  const Token* expect(TokenKind kind, std::string_view what);
  /// `@name`; the name, or nullopt after a report.
  std::optional<std::string> expect_symbol(std::string_view what);

  SourceSpan span_of(const Token& token) const { return {file_, token.begin, token.end}; }
  SourceSpan span_here() const { return span_of(peek()); }
  /// From the first byte of `begin` to the end of the last consumed token.
  SourceSpan span_from(uint32_t begin) const;
  uint32_t begin_here() const { return peek().begin; }
  uint32_t file() const { return file_; }

  Diagnostic& error(std::string id, std::string message, SourceSpan span);
  /// `unexpected X, expected <what>` at the next token, or at the end of the line where the next
  /// token is on another one.
  void unexpected(std::string_view what);
  size_t error_count() const { return diagnostics_.size(); }
  bool too_many_errors() const { return diagnostics_.size() >= kMaxDiagnostics; }

  /// Comments and blank lines up to the next token, as lines without `//` ("" is a blank line, " "
  /// an empty comment). Documentation lines (`//!`) go to `documentation` where it is given.
  std::vector<std::string> take_comments(std::vector<std::string>* documentation = nullptr);
  /// Comments that stood inside the construct that ends with the last consumed token.
  std::vector<std::string> take_inner_comments();
  /// The comment at the end of the line of the last consumed token, or empty.
  std::string take_trailing_comment();

  int braces() const { return braces_; }
  size_t position() const { return at_; }
  /// An instruction, statement or piece begins at the next token.
  void begin_construct() { construct_ = at_; }
  /// After an error in an instruction that began at token `start` and brace depth `braces`: goes to
  /// what may be the next instruction of the same region, its closing brace, a piece, or the end.
  void skip_to_next_instruction(size_t start, int braces);
  /// Goes to the next line that begins a piece.
  void skip_to_next_piece();
  /// Goes to one of `,` `)` `}` `]` `>` outside of what opens here; at most to the end of the
  /// list's construct.
  void skip_list_item();
  /// Goes to the `,` before the next parameter or result, or to the `)` behind the last.
  void skip_parameter();
  bool at_piece() const;

  /// Counts nesting; `ok()` is false (and reported) where it is too deep.
  class Nesting {
   public:
    explicit Nesting(Cursor& cursor) : cursor_(cursor) { ++cursor_.nesting_; }
    ~Nesting() { --cursor_.nesting_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;
    bool ok();

   private:
    Cursor& cursor_;
  };

 private:
  void skip_region();

  uint32_t file_;
  const TokenStream& stream_;
  std::vector<Diagnostic>& diagnostics_;
  size_t at_ = 0;
  size_t construct_ = 0;
  size_t comment_at_ = 0;
  int braces_ = 0;
  int nesting_ = 0;
};

/// An integer token (an optional minus before it); reports what does not fit in 64 bits.
std::optional<int64_t> parse_int(Cursor& cursor, std::string_view what = "an integer");
/// Any number, `inf` and `nan` included.
std::optional<double> parse_number(Cursor& cursor);
/// A string token with its escapes resolved.
std::optional<std::string> parse_string(Cursor& cursor, std::string_view what);
/// The text as a string token: quotes and escapes added.
std::string quoted(std::string_view text);
/// `@name`, quoted where the name is no word: `@"a/b.npy"`.
std::string symbol_text(std::string_view name);
/// The shortest text that reads back as the same number, always with a `.` or an exponent.
std::string number_to_string(double value);

}  // namespace hostir::text
