// Tokens of MLIR text.
//
// The lexer works on demand and can be set back, because shapes (`8x4xf32`) are only shapes behind
// `tensor<`. It never fails: what it does not know is a token of its own, which no rule accepts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hostir::importer {

enum class MlirTokenKind : uint8_t {
  kEnd,
  kWord,    // func.func, stablehlo.add, dense, x
  kValue,   // %arg0, with `#1` if it stands directly behind
  kSymbol,  // @main, @"any text"
  kBlock,   // ^bb0
  kHash,    // #stablehlo.gather, #loc3
  kBang,    // !stablehlo.token
  kString,  // with its quotes
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
};

class MlirLexer {
 public:
  explicit MlirLexer(std::string_view text) : text_(text) {}
  /// The token at or behind `position`, blanks and `//` comments skipped.
  MlirToken at(uint32_t position) const;
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

/// The content of a string token: escapes `\"`, `\\`, `\n`, `\t` and two hex digits replaced.
std::string unescaped(std::string_view quoted);

}  // namespace hostir::importer
