// Tokens of a `.hir` text, and the comments between them.
//
// Tokens refer to the text of a SourceManager and have byte offsets into the whole file. Comments
// and blank lines are not tokens but are in a separate list. Each token has the number of comments
// before it, so that the parser can attach them to instructions. The lexer drops derived comments
// (`//= ...`).
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir::text {

/// Limit on diagnostics per text. Parsing stops there: such a text is hardly a program.
inline constexpr size_t kMaxDiagnostics = 200;

enum class TokenKind : uint8_t {
  kWord,    // identifier or keyword: `matmul`, `f32`
  kValue,   // `%name`; text has no sigil
  kSymbol,  // `@name` or `@"any path"`; text has no sigil or quotes
  kSize,    // `?NAME`; text has no `?`
  kInt,
  kFloat,
  kString,  // text is the part between the quotes, with unresolved escapes
  kRaw,     // `{{ any text }}`; text is the part between the braces
  kShape,   // the whole of `16x?Bxf32`, which has its own small parser
  kPunct,   // one of the punctuation marks; `->`, `..`, `==`, ... are one token
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t comments_before = 0;  // number of comments in the part before the token
  bool first_on_line = false;

  bool is(std::string_view punct_or_word) const {
    return (kind == TokenKind::kPunct || kind == TokenKind::kWord) && text == punct_or_word;
  }
};

struct Comment {
  enum class Kind : uint8_t { kPlain, kDocumentation, kBlankLine };
  Kind kind = Kind::kPlain;
  std::string_view text;  // without `//` and one blank; trimmed on the right
  bool own_line = true;
  bool operator==(const Comment&) const = default;
};

/// The tokens of one part of a file; the last one is kEnd.
struct TokenStream {
  std::vector<Token> tokens;
  std::vector<Comment> comments;
};

/// Lexes the bytes [begin, end) of a file. Reports and skips bytes that do not start a token.
TokenStream lex(const SourceManager& sources, uint32_t file, uint32_t begin, uint32_t end,
                std::vector<Diagnostic>& diagnostics);

/// The byte ranges of the parts of a file, separated by `// -----` lines; at least one.
std::vector<SourceSpan> split_parts(const SourceManager& sources, uint32_t file);

}  // namespace hostir::text
