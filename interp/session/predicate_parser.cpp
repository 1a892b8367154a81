// Recursive descent over: or, and, not, comparison / in / =~, sum, product, unary, primary.
#include "interp/session/predicate_parser.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <cmath>

namespace hostir::interp {
namespace {

using Kind = Predicate::Kind;

constexpr int kMaxDepth = 64;  // beyond hand-written nesting; bounds the stack

struct BinaryToken {
  std::string_view token;
  Kind kind;
};
// A token must precede its prefixes.
constexpr std::array<BinaryToken, 6> kComparisons = {{{"==", Kind::kEq},
                                                      {"!=", Kind::kNe},
                                                      {"<=", Kind::kLe},
                                                      {">=", Kind::kGe},
                                                      {"<", Kind::kLt},
                                                      {">", Kind::kGt}}};
constexpr std::array<BinaryToken, 2> kSums = {{{"+", Kind::kAdd}, {"-", Kind::kSub}}};
constexpr std::array<BinaryToken, 3> kProducts = {
    {{"*", Kind::kMul}, {"/", Kind::kDiv}, {"%", Kind::kMod}}};

struct Unit {
  std::string_view name;
  double factor;
};
constexpr std::array<Unit, 7> kUnits = {{{"ns", 1},
                                         {"us", 1e3},
                                         {"ms", 1e6},
                                         {"s", 1e9},
                                         {"KiB", 1024},
                                         {"MiB", 1024.0 * 1024},
                                         {"GiB", 1024.0 * 1024 * 1024}}};

Predicate make(Kind kind, std::vector<Predicate> args, size_t column) {
  Predicate p;
  p.kind = kind;
  p.args = std::move(args);
  p.column = static_cast<uint32_t>(column);
  return p;
}

Predicate constant(PredicateValue value, size_t column) {
  Predicate p;
  p.constant = std::move(value);
  p.column = static_cast<uint32_t>(column);
  return p;
}

class Parser {
 public:
  explicit Parser(Scanner& scanner) : in_(scanner) {}

  Expected<Predicate> any() {
    return chain(Kind::kOr, "||", "or",
                 [this] { return chain(Kind::kAnd, "&&", "and", [this] { return inverted(); }); });
  }

 private:
  template <class Next>
  Expected<Predicate> chain(Kind kind, std::string_view symbol, std::string_view spelled,
                            Next next) {
    if (++depth_ > kMaxDepth) return in_.error("condition is nested too deeply");
    HOSTIR_ASSIGN_OR_RETURN(Predicate left, next());
    for (;;) {
      in_.skip_blanks();
      const size_t column = in_.position();
      if (!in_.take(symbol) && !in_.take(spelled)) break;
      HOSTIR_ASSIGN_OR_RETURN(Predicate right, next());
      std::vector<Predicate> args;
      args.push_back(std::move(left));
      args.push_back(std::move(right));
      left = make(kind, std::move(args), column);
    }
    --depth_;
    return left;
  }

  Expected<Predicate> inverted() {
    in_.skip_blanks();
    const size_t column = in_.position();
    const bool bang = in_.peek() == '!' && in_.take("!");
    if (!bang && !in_.take("not")) return comparison();
    if (++depth_ > kMaxDepth) return in_.error("condition is nested too deeply");
    HOSTIR_ASSIGN_OR_RETURN(Predicate inner, inverted());
    --depth_;
    std::vector<Predicate> args;
    args.push_back(std::move(inner));
    return make(Kind::kNot, std::move(args), column);
  }

  Expected<Predicate> comparison() {
    HOSTIR_ASSIGN_OR_RETURN(Predicate left, sum());
    in_.skip_blanks();
    const size_t column = in_.position();
    std::vector<Predicate> args;
    args.push_back(std::move(left));
    if (in_.take("in")) {
      HOSTIR_TRY(members(args));
      return make(Kind::kIn, std::move(args), column);
    }
    if (in_.take("=~")) {
      HOSTIR_ASSIGN_OR_RETURN(Predicate right, sum());
      args.push_back(std::move(right));
      return make(Kind::kMatch, std::move(args), column);
    }
    for (const BinaryToken& c : kComparisons) {
      if (!in_.take(c.token)) continue;
      HOSTIR_ASSIGN_OR_RETURN(Predicate right, sum());
      args.push_back(std::move(right));
      return make(c.kind, std::move(args), column);
    }
    return std::move(args.front());
  }

  Expected<void> members(std::vector<Predicate>& args) {
    if (!in_.take("{")) return in_.error("expected '{' after 'in', as in: rank in {0, 1}");
    do {
      HOSTIR_ASSIGN_OR_RETURN(Predicate member, sum());
      args.push_back(std::move(member));
    } while (in_.take(","));
    if (!in_.take("}")) return in_.error("expected ',' or '}'");
    return {};
  }

  template <size_t N, class Next>
  Expected<Predicate> left_associative(const std::array<BinaryToken, N>& tokens, Next next) {
    HOSTIR_ASSIGN_OR_RETURN(Predicate left, next());
    for (bool found = true; found;) {
      found = false;
      for (const BinaryToken& t : tokens) {
        in_.skip_blanks();
        const size_t column = in_.position();
        if (!in_.take(t.token)) continue;
        HOSTIR_ASSIGN_OR_RETURN(Predicate right, next());
        std::vector<Predicate> args;
        args.push_back(std::move(left));
        args.push_back(std::move(right));
        left = make(t.kind, std::move(args), column);
        found = true;
        break;
      }
    }
    return left;
  }

  Expected<Predicate> sum() {
    return left_associative(
        kSums, [this] { return left_associative(kProducts, [this] { return primary(); }); });
  }

  Expected<Predicate> primary() {
    in_.skip_blanks();
    const size_t column = in_.position();
    const char c = in_.peek();
    if (c == '(') return parenthesised();
    if (c == '-') return negated(column);
    if (c == '%') return named_value(column);
    if (c == '"') {
      auto text = in_.quoted();
      if (!text) return in_.error("text without its closing quote");
      return constant(std::move(*text), column);
    }
    if ((c >= '0' && c <= '9') || c == '.') return number(column);
    if (is_word_start(c)) return field(column);
    return in_.error("expected a field, a value, a number, a text or '('");
  }

  Expected<Predicate> parenthesised() {
    in_.take("(");
    HOSTIR_ASSIGN_OR_RETURN(Predicate inner, any());
    if (!in_.take(")")) return in_.error("expected ')'");
    return inner;
  }

  Expected<Predicate> negated(size_t column) {
    in_.take("-");
    if (++depth_ > kMaxDepth) return in_.error("condition is nested too deeply");
    HOSTIR_ASSIGN_OR_RETURN(Predicate inner, primary());
    --depth_;
    if (inner.kind == Kind::kConst) {
      if (auto* i = std::get_if<int64_t>(&inner.constant)) return constant(-*i, column);
      if (auto* d = std::get_if<double>(&inner.constant)) return constant(-*d, column);
    }
    std::vector<Predicate> args;
    args.push_back(std::move(inner));
    return make(Kind::kNegate, std::move(args), column);
  }

  Expected<Predicate> named_value(size_t column) {
    in_.take("%");
    const std::string_view name = in_.dotted_word();
    if (name.empty()) return in_.error("expected a name after '%'");
    std::vector<Predicate> index;
    const bool element = in_.take("[");
    if (element && !in_.take("]")) {
      do {
        HOSTIR_ASSIGN_OR_RETURN(Predicate i, sum());
        index.push_back(std::move(i));
      } while (in_.take(","));
      if (!in_.take("]")) return in_.error("expected ',' or ']'");
    }
    Predicate p = make(element ? Kind::kElement : Kind::kLoop, std::move(index), column);
    p.text = name;
    return p;
  }

  Expected<Predicate> number(size_t column) {
    const std::string_view text = in_.line().substr(column);
    int64_t integer = 0;
    double real = 0;
    const char* begin = text.data();
    const char* end = begin + text.size();
    const auto whole = std::from_chars(begin, end, integer);
    const auto floating = std::from_chars(begin, end, real);
    if (floating.ec != std::errc{}) return in_.error("number out of range");
    const bool is_integer = whole.ec == std::errc{} && whole.ptr == floating.ptr;
    in_.rewind(column + static_cast<size_t>(floating.ptr - begin));
    const size_t after = in_.position();
    if (after < in_.line().size() && is_word_start(in_.line()[after])) {
      return with_unit(is_integer ? static_cast<double>(integer) : real, column);
    }
    if (is_integer) return constant(integer, column);
    return constant(real, column);
  }

  Expected<Predicate> with_unit(double value, size_t column) {
    const size_t at = in_.position();
    const std::string_view unit = in_.word();
    for (const Unit& u : kUnits) {
      if (u.name != unit) continue;
      const double scaled = value * u.factor;
      if (scaled == std::floor(scaled) && std::fabs(scaled) < 9e18)
        return constant(static_cast<int64_t>(scaled), column);
      return constant(scaled, column);
    }
    return in_.error(fmt::format("unknown unit \"{}\"; ns us ms s KiB MiB GiB exist", unit), at);
  }

  Expected<Predicate> field(size_t column) {
    Predicate p = make(Kind::kField, {}, column);
    p.text = in_.dotted_word();
    if (in_.peek() != '(') return p;
    in_.take("(");
    p.kind = Kind::kCall;
    in_.take("%");
    p.symbol = in_.dotted_word();
    if (p.symbol.empty()) return in_.error("expected a name, as in coord(tp) or nan(%y)");
    if (!in_.take(")")) return in_.error("expected ')'");
    return p;
  }

  Scanner& in_;
  int depth_ = 0;
};

}  // namespace

Expected<Predicate> parse_predicate(Scanner& scanner) { return Parser(scanner).any(); }

Expected<Predicate> parse_predicate(std::string_view text) {
  Scanner scanner(text);
  HOSTIR_ASSIGN_OR_RETURN(Predicate p, parse_predicate(scanner));
  if (!scanner.at_end()) return scanner.error("unexpected text after the condition");
  return p;
}

}  // namespace hostir::interp
