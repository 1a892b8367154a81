// Tokens of MLIR text.
//
// The lexer works on demand and can be rewound, because `8x4xf32` is a shape only after `tensor<`.
// It never fails: an unknown character becomes a token that no rule accepts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostir::importer {

enum class MlirTokenKind : uint8_t {
  kEnd,
  kWord,    // func.func, stablehlo.add, dense, x
  kValue,   // %arg0, including a `#1` directly after it
  kSymbol,  // @main, @"any text"
  kBlock,   // ^bb0
  kHash,    // #stablehlo.gather, #loc3
  kBang,    // !stablehlo.token
  kString,  // including its quotes
  kNumber,  // 1, -2.5E-2, 0x7FC00000
  kMark,    // one character, or ->
};

struct MlirToken {
  MlirTokenKind kind = MlirTokenKind::kEnd;
  uint32_t begin = 0;
  uint32_t end = 0;
  std::string_view text;

  bool is(std::string_view wanted) const {
    return text == wanted && kind != MlirTokenKind::kString && kind != MlirTokenKind::kEnd;
  }
  /// A string with this content, as the name of an operation in generic form.
  bool is_name(std::string_view wanted) const {
    return kind == MlirTokenKind::kString && text.size() == wanted.size() + 2 &&
           text.substr(1, wanted.size()) == wanted;
  }
};

class MlirLexer {
 public:
  explicit MlirLexer(std::string_view text) : text_(text) {}
  /// The token at or after `position`, skipping blanks and `//` comments.
  MlirToken at(uint32_t position) const;
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// The content of a string token, with the escapes `\"`, `\\`, `\n`, `\t` and two hex digits
/// replaced.
std::string unescaped(std::string_view quoted);
/// The name in a symbol's token, without its sigil and quotes.
std::string symbol_name(std::string_view token);

}  // namespace hostir::importer
