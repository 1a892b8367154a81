// Precedence climbing over the table of operators; operands by recursive descent.
#include "interp/session/expressions/expression_parser.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "hostir/support/characters.h"

namespace hostir::interp {
namespace {

using Kind = Expression::Kind;

constexpr int kMaxDepth = 64;        // beyond hand-written nesting; bounds the stack
constexpr int kMaxOperators = 1000;  // `1 + 1 + 1 ...` is as deep as it is long

constexpr auto kOperators = std::to_array<ExpressionOperator>({
    {Kind::kOr, "||", "or", 1},
    {Kind::kAnd, "&&", "and", 2},
    {Kind::kNot, "!", "not", kNotPrecedence},
    {Kind::kEq, "==", "", kComparison},
    {Kind::kNe, "!=", "", kComparison},
    {Kind::kLe, "<=", "", kComparison},
    {Kind::kGe, ">=", "", kComparison},
    {Kind::kLt, "<", "", kComparison},
    {Kind::kGt, ">", "", kComparison},
    {Kind::kMatch, "=~", "", kComparison},
    {Kind::kContains, "contains", "", kComparison},
    {Kind::kIn, "in", "", kComparison},
    {Kind::kAdd, "+", "", kSum},
    {Kind::kSub, "-", "", kSum},
    {Kind::kMul, "*", "", 6},
    {Kind::kDiv, "/", "", 6},
    {Kind::kMod, "%", "", 6},
    {Kind::kNegate, "-", "", 7},
});

constexpr std::pair<std::string_view, double> kUnits[] = {
    {"ns", 1},     {"us", 1e3},      {"ms", 1e6},         {"s", 1e9},
    {"B", 1},      {"K", 1024},      {"M", 1048576},      {"G", 1073741824.},
    {"KiB", 1024}, {"MiB", 1048576}, {"GiB", 1073741824.}};

Expression make(Kind kind, std::vector<Expression> args, std::string_view text = {}) {
  Expression e;
  e.kind = kind;
  e.args = std::move(args);
  e.text = text;
  return e;
}

Expression constant(ExpressionValue value) {
  Expression e;
  e.constant = std::move(value);
  return e;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(Scanner& scanner) : in_(scanner) {}

  Expected<Expression> any() {
    return nested([this] { return binary(1); });
  }

  Expected<Expression> element(std::string_view name) {
    std::vector<Expression> indices;
    in_.take("[");
    if (!in_.take("]")) {
      do {
        HOSTIR_ASSIGN_OR_RETURN(Expression dimension, index());
        indices.push_back(std::move(dimension));
      } while (in_.take(","));
      if (!in_.take("]")) return in_.error("expected ',' or ']'");
    }
    return make(Kind::kElement, std::move(indices), name);
  }

 private:
  template <class Read>
  Expected<Expression> nested(Read read) {
    if (++depth_ > kMaxDepth) return in_.error("condition is nested too deeply");
    Expected<Expression> out = read();
    --depth_;
    return out;
  }

  const ExpressionOperator* take_operator(int precedence) {
    for (const ExpressionOperator& o : kOperators) {
      if (o.precedence != precedence) continue;
      if (in_.take(o.symbol) || (!o.word.empty() && in_.take(o.word))) return &o;
    }
    return nullptr;
  }

  Expected<Expression> binary(int precedence) {
    if (precedence == kNotPrecedence) return inverted();
    if (precedence > 6) return primary();
    HOSTIR_ASSIGN_OR_RETURN(Expression left, binary(precedence + 1));
    while (const ExpressionOperator* o = take_operator(precedence)) {
      if (++operators_ > kMaxOperators) return in_.error("condition is too long");
      std::vector<Expression> args;
      args.push_back(std::move(left));
      if (o->kind == Kind::kIn) {
        HOSTIR_TRY(members(args));
      } else {
        HOSTIR_ASSIGN_OR_RETURN(Expression right, binary(precedence + 1));
        args.push_back(std::move(right));
      }
      left = make(o->kind, std::move(args));
      if (precedence == kComparison) break;
    }
    return left;
  }

  Expected<Expression> inverted() {
    if (!take_operator(kNotPrecedence)) return binary(kComparison);
    HOSTIR_ASSIGN_OR_RETURN(Expression inner, nested([this] { return inverted(); }));
    return make(Kind::kNot, {std::move(inner)});
  }

  Expected<Expression> sum() {
    return nested([this] { return binary(kSum); });
  }

  Expected<void> members(std::vector<Expression>& args) {
    if (!in_.take("{")) return in_.error("expected '{' after 'in', as in: rank in {0, 2..5}");
    do {
      HOSTIR_ASSIGN_OR_RETURN(Expression member, sum());
      if (in_.take("..")) {
        HOSTIR_ASSIGN_OR_RETURN(Expression last, sum());
        member = make(Kind::kRange, {std::move(member), std::move(last)});
      }
      args.push_back(std::move(member));
    } while (in_.take(","));
    if (!in_.take("}")) return in_.error("expected ',' or '}'");
    return {};
  }

  Expected<Expression> primary() {
    const char c = in_.peek();
    if (c == '(') return parenthesised();
    if (c == '-') return negated();
    if (c == '%') return value(Kind::kName);
    if (c == '"') {
      auto text = in_.quoted();
      if (!text) return in_.error("text without its closing quote");
      return constant(std::move(*text));
    }
    if (is_digit(c) || c == '.') return number();
    if (is_word_start(c)) return field();
    return in_.error("expected a field, a value, a number, a text or '('");
  }

  Expected<Expression> parenthesised() {
    in_.take("(");
    HOSTIR_ASSIGN_OR_RETURN(Expression inner, any());
    if (!in_.take(")")) return in_.error("expected ')'");
    return inner;
  }

  Expected<Expression> negated() {
    in_.take("-");
    HOSTIR_ASSIGN_OR_RETURN(Expression inner, nested([this] { return primary(); }));
    if (inner.kind == Kind::kConst) {
      if (auto* i = std::get_if<int64_t>(&inner.constant)) return constant(-*i);
      if (auto* d = std::get_if<double>(&inner.constant)) return constant(-*d);
    }
    return make(Kind::kNegate, {std::move(inner)});
  }

  Expected<Expression> index() {
    Expression lo = constant(int64_t{0});
    if (in_.peek() != ':') {
      HOSTIR_ASSIGN_OR_RETURN(lo, sum());
      if (in_.peek() != ':') return lo;
    }
    in_.take(":");
    if (in_.peek() == ',' || in_.peek() == ']') return make(Kind::kSlice, {std::move(lo)});
    HOSTIR_ASSIGN_OR_RETURN(Expression hi, sum());
    return make(Kind::kSlice, {std::move(lo), std::move(hi)});
  }

  /// `%y`, `%y[0, 1:3]`, `%y[0, :].max`; in calls also without '%'.
  Expected<Expression> value(Kind kind) {
    const bool marked = in_.take("%");
    const std::string_view name = marked ? in_.value_word() : in_.dotted_word();
    if (name.empty())
      return in_.error(marked ? "expected a name after '%'"
                              : "expected a name, as in coord(tp) or nan(%y)");
    if (in_.peek() != '[') return make(kind, {}, name);
    HOSTIR_ASSIGN_OR_RETURN(Expression part, element(name));
    const size_t after = in_.position();
    if (after + 1 >= in_.line().size() || in_.line()[after] != '.' ||
        !is_word_start(in_.line()[after + 1]))
      return part;
    in_.rewind(after + 1);
    const std::string_view function = in_.word();
    return make(Kind::kCall, {std::move(part)}, function);
  }

  Expected<Expression> number() {
    const size_t column = in_.position();
    const std::string_view text = in_.line().substr(column);
    int64_t integer = 0;
    double real = 0;
    const char* begin = text.data();
    const char* end = begin + text.size();
    const auto whole = std::from_chars(begin, end, integer);
    const auto floating = std::from_chars(begin, end, real);
    if (floating.ec != std::errc{}) return in_.error("number out of range");
    // `2..5`: the number ends before the dots.
    const bool range =
        std::string_view(whole.ptr, static_cast<size_t>(end - whole.ptr)).starts_with("..");
    const bool is_integer = whole.ec == std::errc{} && (range || whole.ptr == floating.ptr);
    const char* after = is_integer ? whole.ptr : floating.ptr;
    in_.rewind(column + static_cast<size_t>(after - begin));
    if (after != end && is_word_start(*after))
      return with_unit(is_integer ? static_cast<double>(integer) : real);
    if (is_integer) return constant(integer);
    return constant(real);
  }

  Expected<Expression> with_unit(double value) {
    const size_t at = in_.position();
    const std::string_view unit = in_.word();
    std::string known;
    for (const auto& [name, factor] : kUnits) {
      known += fmt::format(" {}", name);
      if (name != unit) continue;
      const double scaled = value * factor;
      if (scaled == std::floor(scaled) && std::fabs(scaled) < 9e18)
        return constant(static_cast<int64_t>(scaled));
      return constant(scaled);
    }
    return in_.error(fmt::format("unknown unit \"{}\"; the units are{}", unit, known), at);
  }

  Expected<Expression> field() {
    const std::string_view name = in_.dotted_word();
    if (in_.peek() != '(') return make(Kind::kField, {}, name);
    in_.take("(");
    HOSTIR_ASSIGN_OR_RETURN(Expression argument, nested([&] {
                              return value(name == "coord" ? Kind::kField : Kind::kName);
                            }));
    if (!in_.take(")")) return in_.error("expected ')'");
    return make(Kind::kCall, {std::move(argument)}, name);
  }

  Scanner& in_;
  int depth_ = 0;
  int operators_ = 0;
};

}  // namespace

std::span<const ExpressionOperator> expression_operators() { return kOperators; }

Expected<Expression> parse_expression(Scanner& scanner) { return ExpressionParser(scanner).any(); }

Expected<Expression> parse_slice(Scanner& scanner) { return ExpressionParser(scanner).element(""); }

Expected<Expression> parse_expression(std::string_view text) {
  Scanner scanner(text);
  HOSTIR_ASSIGN_OR_RETURN(Expression e, parse_expression(scanner));
  if (!scanner.at_end()) return scanner.error("unexpected text after the condition");
  return e;
}

}  // namespace hostir::interp
