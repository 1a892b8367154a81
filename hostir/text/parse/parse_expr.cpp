#include "hostir/text/parse/parse_expr.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace hostir::text {

namespace {

using Kind = IndexExpr::Kind;

struct BinaryOperator {
  std::string_view text;
  Kind kind;
  int strength;
};
constexpr std::array<BinaryOperator, 13> kOperators = {{{"||", Kind::kOr, 1},
                                                        {"&&", Kind::kAnd, 2},
                                                        {"==", Kind::kEq, 3},
                                                        {"!=", Kind::kNe, 3},
                                                        {"<", Kind::kLt, 3},
                                                        {"<=", Kind::kLe, 3},
                                                        {">", Kind::kGt, 3},
                                                        {">=", Kind::kGe, 3},
                                                        {"+", Kind::kAdd, 4},
                                                        {"-", Kind::kSub, 4},
                                                        {"*", Kind::kMul, 5},
                                                        {"/", Kind::kDiv, 5},
                                                        {"%", Kind::kMod, 5}}};
// Limit per expression. A chain 1+1+1+... makes a tree as deep as it is long, and code that visits
// an expression may take quadratic time.
constexpr int kMaxOperators = 128;

const BinaryOperator* operator_at(const Token& token) {
  if (token.kind != TokenKind::kPunct) return nullptr;
  for (const BinaryOperator& op : kOperators) {
    if (op.text == token.text) return &op;
  }
  return nullptr;
}

// Reads one expression and counts all its operators.
class ExprReader {
 public:
  explicit ExprReader(Cursor& cursor) : cursor_(cursor) {}

  std::optional<IndexExpr> read_binary(int min_strength) {
    auto left = read_primary();
    while (left) {
      const BinaryOperator* op = operator_at(cursor_.peek());
      if (!op || op->strength < min_strength) return left;
      if (!count_operator()) return std::nullopt;
      cursor_.next();
      auto right = read_binary(op->strength + 1);
      if (!right) return std::nullopt;
      left = IndexExpr::binary(op->kind, std::move(*left), std::move(*right));
    }
    return std::nullopt;
  }

 private:
  bool count_operator() {
    if (++operators_ <= kMaxOperators) return true;
    cursor_.error("syntax_c5", "expression is too long", cursor_.span_here());
    return false;
  }

  // `(axis)` after coord and size.
  std::optional<std::string> read_axis_argument() {
    if (!cursor_.expect("(")) return std::nullopt;
    const Token* axis = cursor_.expect(TokenKind::kWord, "a mesh axis");
    if (!axis || !cursor_.expect(")")) return std::nullopt;
    return std::string(axis->text);
  }

  std::optional<IndexExpr> read_min_max(Kind kind) {
    if (!count_operator() || !cursor_.expect("(")) return std::nullopt;
    auto a = read_binary(1);
    if (!a || !cursor_.expect(",")) return std::nullopt;
    auto b = read_binary(1);
    if (!b || !cursor_.expect(")")) return std::nullopt;
    return IndexExpr::binary(kind, std::move(*a), std::move(*b));
  }

  std::optional<IndexExpr> read_word() {
    if (cursor_.accept("rank")) return IndexExpr::rank();
    const bool coord = cursor_.at("coord");
    if (cursor_.accept("coord") || cursor_.accept("size")) {
      auto axis = read_axis_argument();
      if (!axis) return std::nullopt;
      return coord ? IndexExpr::coord(std::move(*axis)) : IndexExpr::axis_size(std::move(*axis));
    }
    const Kind kind = cursor_.at("min") ? Kind::kMin : Kind::kMax;
    if (cursor_.accept("min") || cursor_.accept("max")) return read_min_max(kind);
    cursor_.unexpected("an index expression");
    return std::nullopt;
  }

  std::optional<IndexExpr> read_primary() {
    Cursor::Nesting nesting(cursor_);
    if (!nesting.ok()) return std::nullopt;
    const Token& token = cursor_.peek();
    if (token.kind == TokenKind::kSize) return IndexExpr::size(std::string(cursor_.next().text));
    if (token.kind == TokenKind::kValue) return IndexExpr::name(std::string(cursor_.next().text));
    const bool minus = token.is("-");
    if (token.kind == TokenKind::kInt || (minus && cursor_.peek(1).kind == TokenKind::kInt)) {
      const auto value = parse_int(cursor_);
      return value ? std::optional(IndexExpr(*value)) : std::nullopt;
    }
    if (minus) {
      if (!count_operator()) return std::nullopt;
      cursor_.next();
      auto operand = read_primary();
      if (!operand) return std::nullopt;
      return IndexExpr::binary(Kind::kSub, 0, std::move(*operand));
    }
    if (cursor_.accept("(")) {
      auto inner = read_binary(1);
      return inner && cursor_.expect(")") ? inner : std::nullopt;
    }
    return read_word();
  }

  Cursor& cursor_;
  int operators_ = 0;
};

std::string dtype_list() {
  std::string out;
  for (const DType dtype : kAllDTypes) out += (out.empty() ? "" : " ") + std::string(name(dtype));
  return out;
}

// Reads a shape token piece by piece.
class ShapeReader {
 public:
  ShapeReader(Cursor& cursor, const SourceManager& sources, const Token& token)
      : cursor_(cursor), sources_(sources), token_(token), rest_(token.text) {}

  std::optional<ShapeAndDType> read() {
    ShapeAndDType out;
    while (!rest_.empty()) {
      if (const auto dtype = parse_dtype(rest_)) {
        out.dtype = *dtype;
        return out;
      }
      auto size = read_size();
      if (!size) return std::nullopt;
      out.shape.push_back(std::move(*size));
      if (rest_.substr(0, 1) != "x") break;
      rest_.remove_prefix(1);
    }
    fail("expected sizes and a dtype, as in 4x8xf32");
    return std::nullopt;
  }

 private:
  uint32_t offset() const { return token_.end - static_cast<uint32_t>(rest_.size()); }

  void fail(std::string message, size_t width = 0) {
    const uint32_t begin = rest_.empty() ? token_.begin : offset();
    const uint32_t end = width ? begin + static_cast<uint32_t>(width) : token_.end;
    cursor_.error("syntax_c6", std::move(message), {cursor_.file(), begin, end});
  }

  std::optional<IndexExpr> read_size() {
    if (rest_.front() == '(') return read_expression();
    if (rest_.front() == '?') {
      size_t n = 1;
      while (n < rest_.size() && ((rest_[n] >= 'A' && rest_[n] <= 'Z') || rest_[n] == '_' ||
                                  (n > 1 && rest_[n] >= '0' && rest_[n] <= '9'))) {
        ++n;
      }
      if (n == 1) return fail("expected the name of a size, as in ?B", 1), std::nullopt;
      std::string name(rest_.substr(1, n - 1));
      rest_.remove_prefix(n);
      return IndexExpr::size(std::move(name));
    }
    int64_t value = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (code != std::errc() || value < 0) {
      fail(code == std::errc::result_out_of_range ? "size does not fit in 64 bits"
                                                  : "expected a size or a dtype: " + dtype_list());
      return std::nullopt;
    }
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return IndexExpr(value);
  }

  std::optional<IndexExpr> read_expression() {
    size_t close = 0;
    for (int depth = 0; close < rest_.size(); ++close) {
      if (rest_[close] == '(') ++depth;
      if (rest_[close] == ')' && --depth == 0) break;
    }
    if (close >= rest_.size()) return fail("parenthesis is not closed"), std::nullopt;
    std::vector<Diagnostic> diagnostics;
    const uint32_t begin = offset();
    const TokenStream stream =
        lex(sources_, cursor_.file(), begin, begin + static_cast<uint32_t>(close) + 1, diagnostics);
    Cursor inner(cursor_.file(), stream, diagnostics);
    auto expr = parse_expr(inner);
    if (expr && !inner.at_end()) inner.unexpected("\")\"");
    if (!diagnostics.empty()) {
      const Diagnostic& d = diagnostics.front();
      cursor_.error(d.id, d.message, d.span);
      return std::nullopt;
    }
    rest_.remove_prefix(close + 1);
    return expr;
  }

  Cursor& cursor_;
  const SourceManager& sources_;
  const Token& token_;
  std::string_view rest_;
};

}  // namespace

std::optional<IndexExpr> parse_expr(Cursor& cursor) { return ExprReader(cursor).read_binary(1); }

bool starts_expr(const Token& token) {
  constexpr std::array<std::string_view, 7> kWords = {"rank", "coord", "size", "min",
                                                      "max",  "(",     "-"};
  return token.kind == TokenKind::kInt || token.kind == TokenKind::kValue ||
         token.kind == TokenKind::kSize ||
         std::any_of(kWords.begin(), kWords.end(), [&](std::string_view w) { return token.is(w); });
}

std::optional<ExprList> parse_expr_list(Cursor& cursor) {
  ExprList list;
  do {
    auto expr = parse_expr(cursor);
    if (!expr) return std::nullopt;
    list.push_back(std::move(*expr));
  } while (cursor.accept(","));
  return list;
}

std::optional<ShapeAndDType> parse_shape(Cursor& cursor, const SourceManager& sources) {
  if (cursor.at(TokenKind::kWord)) {
    const Token& token = cursor.peek();
    if (const auto dtype = parse_dtype(token.text)) {
      cursor.next();
      return ShapeAndDType{{}, *dtype};
    }
    Diagnostic& d = cursor.error("syntax_c6", "unknown dtype \"" + std::string(token.text) + "\"",
                                 cursor.span_here());
    d.notes.push_back({"the dtypes are " + dtype_list(), {}});
    return std::nullopt;
  }
  if (!cursor.at(TokenKind::kShape)) {
    cursor.unexpected("a shape, as in 4x8xf32");
    return std::nullopt;
  }
  const Token& token = cursor.next();
  return ShapeReader(cursor, sources, token).read();
}

}  // namespace hostir::text
