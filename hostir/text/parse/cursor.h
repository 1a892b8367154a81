// The parser's position in a token stream: look-ahead, expectation, recovery, comments.
//
// Every parse function takes a Cursor. On failure, it reports exactly one diagnostic and returns
// nullopt or false. The cursor counts braces, so that recovery can tell which of them belong to the
// failed construct. Nesting is limited, so no text can exhaust the stack.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/text/parse/token.h"

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
  /// Consumes the token if it is this word or punctuation mark.
  bool accept(std::string_view text);
  /// Consumes the token if it is `text`; otherwise reports `unexpected X, expected "text"`.
  bool expect(std::string_view text);
  /// Consumes a token of this kind or reports an error. `what` describes it: "a value name".
  const Token* expect(TokenKind kind, std::string_view what);
  /// Consumes `@name` and returns the name; nullopt after an error.
  std::optional<std::string> expect_symbol(std::string_view what);

  SourceSpan span_of(const Token& token) const { return {file_, token.begin, token.end}; }
  SourceSpan span_here() const { return span_of(peek()); }
  /// From the first byte of `begin` to the end of the last consumed token.
  SourceSpan span_from(uint32_t begin) const;
  uint32_t begin_here() const { return peek().begin; }
  uint32_t file() const { return file_; }

  Diagnostic& error(std::string id, std::string message, SourceSpan span);
  /// Reports `unexpected X, expected <what>` at the next token, or at the end of the current line
  /// if the next token is on another line.
  void unexpected(std::string_view what);
  bool too_many_errors() const { return diagnostics_.size() >= kMaxDiagnostics; }

  /// Takes the comments and blank lines before the next token, as lines without `//` ("" is a blank
  /// line, " " an empty comment). Documentation lines (`//!`) go to `documentation` if not null.
  std::vector<std::string> take_comments(std::vector<std::string>* documentation = nullptr);
  /// Takes the comments inside the construct that ends with the last consumed token.
  std::vector<std::string> take_inner_comments();
  /// Takes the comment at the end of the last consumed token's line; empty if there is none.
  std::string take_trailing_comment();

  int braces() const { return braces_; }
  size_t position() const { return at_; }
  /// Marks the next token as the start of an instruction, statement or piece.
  void begin_construct() { construct_ = at_; }
  /// Recovers from an error in an instruction that began at token `start` and brace depth `braces`:
  /// skips to a possible next instruction of the same region, its closing brace, a piece, or the
  /// end.
  void skip_to_next_instruction(size_t start, int braces);
  /// Skips to the next line that begins a piece.
  void skip_to_next_piece();
  /// Skips to one of `,` `)` `}` `]` `>` outside nested brackets, but not past the end of the
  /// list's construct.
  void skip_list_item();
  /// Skips to the `,` before the next parameter or result, or to the `)` after the last one.
  void skip_parameter();
  bool at_piece() const;

  /// Counts nesting in a scope. If it is too deep, reports that and `ok()` is false.
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

/// An integer with an optional minus. Reports a number that does not fit in 64 bits.
std::optional<int64_t> parse_int(Cursor& cursor, std::string_view what = "an integer");
/// Any number, including `inf` and `nan`.
std::optional<double> parse_number(Cursor& cursor);
/// A string token with its escapes resolved.
std::optional<std::string> parse_string(Cursor& cursor, std::string_view what);
/// The text as a string token, with quotes and escapes.
std::string quoted(std::string_view text);
/// `@name`, quoted if the name is not a word: `@"a/b.npy"`.
std::string symbol_text(std::string_view name);
/// The shortest text that parses to the same number, always with a `.` or an exponent.
std::string number_to_string(double value);

}  // namespace hostir::text
