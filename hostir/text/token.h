// Tokens of a `.hir` text, and the comments between them.
//
// Tokens point into the text of a SourceManager and carry byte offsets of the whole file. Comments
// and blank lines are no tokens: they stand in a list of their own, and each token knows how many
// of them come before it, so that the parser can hang them on the instruction they belong to.
// Derived comments
// (`//= ...`) are dropped here and nowhere else.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hostir/support/diagnostic.h"

namespace hostir::text {

/// Diagnostics of one text; after so many it is hardly a program and the rest is left alone.
inline constexpr size_t kMaxDiagnostics = 200;

enum class TokenKind : uint8_t {
  kWord,    // identifier or keyword: `matmul`, `f32`
  kValue,   // `%name`; text is without the sigil
  kSymbol,  // `@name` or `@"any path"`; text is without sigil and quotes
  kSize,    // `?NAME`; text is without the `?`
  kInt,
  kFloat,
  kString,  // text is what stands between the quotes, escapes not yet resolved
  kRaw,     // `{{ any text }}`; text is what stands between the braces
  kShape,   // `16x?Bxf32`: all of it, parsed by its own small parser
  kPunct,   // one of the punctuation marks; `->`, `..`, `==`, ... are one token
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  uint32_t begin = 0;
  uint32_t end = 0;
  uint32_t comments_before = 0;  // number of comments of the part that precede the token
  bool first_on_line = false;

  bool is(std::string_view punct_or_word) const {
    return (kind == TokenKind::kPunct || kind == TokenKind::kWord) && text == punct_or_word;
  }
};

struct Comment {
  enum class Kind : uint8_t { kPlain, kDocumentation, kBlankLine };
  Kind kind = Kind::kPlain;
  std::string_view text;  // without `//` and one blank, trimmed on the right
  bool own_line = true;
  bool operator==(const Comment&) const = default;
};

/// The tokens of one part of a file, closed by a kEnd token.
struct TokenStream {
  std::vector<Token> tokens;
  std::vector<Comment> comments;
};

/// Lexes the bytes [begin, end) of a file. Bytes that start no token are reported and skipped.
TokenStream lex(const SourceManager& sources, uint32_t file, uint32_t begin, uint32_t end,
                std::vector<Diagnostic>& diagnostics);

/// Byte ranges of the parts of a file, which `// -----` lines separate; at least one.
std::vector<SourceSpan> split_parts(const SourceManager& sources, uint32_t file);

}  // namespace hostir::text
