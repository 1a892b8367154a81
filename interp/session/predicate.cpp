#include "interp/session/predicate.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

namespace hostir::interp {
namespace {

using Kind = Predicate::Kind;

struct Spelling {
  std::string_view symbol;
  int precedence;  // higher binds tighter
};

Spelling spelling(Kind kind) {
  switch (kind) {
    case Kind::kOr:
      return {"||", 1};
    case Kind::kAnd:
      return {"&&", 2};
    case Kind::kNot:
      return {"!", 3};
    case Kind::kEq:
      return {"==", 4};
    case Kind::kNe:
      return {"!=", 4};
    case Kind::kLt:
      return {"<", 4};
    case Kind::kLe:
      return {"<=", 4};
    case Kind::kGt:
      return {">", 4};
    case Kind::kGe:
      return {">=", 4};
    case Kind::kMatch:
      return {"=~", 4};
    case Kind::kIn:
      return {"in", 4};
    case Kind::kAdd:
      return {"+", 5};
    case Kind::kSub:
      return {"-", 5};
    case Kind::kMul:
      return {"*", 6};
    case Kind::kDiv:
      return {"/", 6};
    case Kind::kMod:
      return {"%", 6};
    case Kind::kNegate:
      return {"-", 7};
    case Kind::kConst:
    case Kind::kField:
    case Kind::kLoop:
    case Kind::kElement:
    case Kind::kCall:
      return {"", 8};
  }
  return {"", 8};
}

std::string print(const Predicate& p);

std::string inside(const Predicate& arg, int precedence) {
  const std::string text = print(arg);
  return spelling(arg.kind).precedence < precedence ? "(" + text + ")" : text;
}

std::string print_constant(const PredicateValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) {
    std::string text = fmt::format("{}", *d);
    if (text.find_first_of(".einf") == std::string::npos) text += ".0";
    return text;
  }
  std::string out = "\"";
  for (const char c : std::get<std::string>(value)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string joined(const std::vector<Predicate>& args, size_t first) {
  std::string out;
  for (size_t i = first; i < args.size(); ++i) {
    if (i > first) out += ", ";
    out += inside(args[i], 5);
  }
  return out;
}

std::string print(const Predicate& p) {
  const auto [symbol, precedence] = spelling(p.kind);
  switch (p.kind) {
    case Kind::kConst:
      return print_constant(p.constant);
    case Kind::kField:
      return p.text;
    case Kind::kLoop:
      return "%" + p.text;
    case Kind::kElement:
      return "%" + p.text + "[" + joined(p.args, 0) + "]";
    case Kind::kCall: {
      const bool axis = p.text == "coord";
      return p.text + (axis ? "(" : "(%") + p.symbol + ")";
    }
    case Kind::kNot:
    case Kind::kNegate:
      return std::string(symbol) + inside(p.args[0], precedence);
    case Kind::kIn:
      return inside(p.args[0], 5) + " in {" + joined(p.args, 1) + "}";
    default:
      break;
  }
  // Comparisons do not chain; sums and products associate to the left.
  const bool comparison = precedence == 4;
  return inside(p.args[0], comparison ? 5 : precedence) + " " + std::string(symbol) + " " +
         inside(p.args[1], comparison ? 5 : precedence + 1);
}

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorKind::kUsage, "condition", std::move(message));
}

bool truth(const PredicateValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return *i != 0;
  if (const auto* d = std::get_if<double>(&value)) return *d != 0;
  return !std::get<std::string>(value).empty();
}

double as_double(const PredicateValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}

bool is_text(const PredicateValue& value) { return std::holds_alternative<std::string>(value); }

template <class T>
bool ordered(Kind kind, const T& a, const T& b) {
  switch (kind) {
    case Kind::kEq:
      return a == b;
    case Kind::kNe:
      return a != b;
    case Kind::kLt:
      return a < b;
    case Kind::kLe:
      return a <= b;
    case Kind::kGt:
      return a > b;
    default:
      return a >= b;
  }
}

Expected<bool> compare(Kind kind, const PredicateValue& a, const PredicateValue& b,
                       const Predicate& where) {
  if (is_text(a) != is_text(b))
    return wrong(fmt::format("can not compare a number with a text in \"{}\"", to_string(where)));
  if (is_text(a)) return ordered(kind, std::get<std::string>(a), std::get<std::string>(b));
  const auto* i = std::get_if<int64_t>(&a);
  const auto* j = std::get_if<int64_t>(&b);
  if (i && j) return ordered(kind, *i, *j);
  return ordered(kind, as_double(a), as_double(b));
}

Expected<PredicateValue> integer_arithmetic(Kind kind, int64_t a, int64_t b,
                                            const Predicate& where) {
  int64_t out = 0;
  bool overflow = false;
  switch (kind) {
    case Kind::kAdd:
      overflow = __builtin_add_overflow(a, b, &out);
      break;
    case Kind::kSub:
      overflow = __builtin_sub_overflow(a, b, &out);
      break;
    case Kind::kMul:
      overflow = __builtin_mul_overflow(a, b, &out);
      break;
    default: {
      if (b == 0) return wrong(fmt::format("division by zero in \"{}\"", to_string(where)));
      if (b == -1) {
        overflow = a == std::numeric_limits<int64_t>::min() && kind == Kind::kDiv;
        out = kind == Kind::kMod || overflow ? 0 : -a;
        break;
      }
      const int64_t quotient = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
      out = kind == Kind::kDiv ? quotient : a - quotient * b;
    }
  }
  if (overflow) return wrong(fmt::format("overflow in \"{}\"", to_string(where)));
  return out;
}

Expected<PredicateValue> arithmetic(const Predicate& p, const PredicateValue& a,
                                    const PredicateValue& b) {
  if (is_text(a) || is_text(b))
    return wrong(fmt::format("can not calculate with a text in \"{}\"", to_string(p)));
  const auto* i = std::get_if<int64_t>(&a);
  const auto* j = std::get_if<int64_t>(&b);
  if (i && j) return integer_arithmetic(p.kind, *i, *j, p);
  const double x = as_double(a);
  const double y = as_double(b);
  switch (p.kind) {
    case Kind::kAdd:
      return x + y;
    case Kind::kSub:
      return x - y;
    case Kind::kMul:
      return x * y;
    case Kind::kDiv:
      return x / y;
    default:
      return std::fmod(x, y);
  }
}

Expected<PredicateValue> leaf(const Predicate& p, const PredicateLookup& lookup) {
  std::vector<int64_t> index;
  for (const Predicate& arg : p.args) {
    HOSTIR_ASSIGN_OR_RETURN(const PredicateValue value, evaluate(arg, lookup));
    const auto* i = std::get_if<int64_t>(&value);
    if (!i) return wrong(fmt::format("an index of \"{}\" is not an integer", to_string(p)));
    index.push_back(*i);
  }
  return lookup(p, index);
}

PredicateValue flag(bool value) { return int64_t{value ? 1 : 0}; }

Expected<PredicateValue> member(const Predicate& p, const PredicateLookup& lookup) {
  HOSTIR_ASSIGN_OR_RETURN(const PredicateValue wanted, evaluate(p.args[0], lookup));
  for (size_t i = 1; i < p.args.size(); ++i) {
    HOSTIR_ASSIGN_OR_RETURN(const PredicateValue value, evaluate(p.args[i], lookup));
    HOSTIR_ASSIGN_OR_RETURN(const bool equal, compare(Kind::kEq, wanted, value, p));
    if (equal) return flag(true);
  }
  return flag(false);
}

Expected<PredicateValue> unary(const Predicate& p, const PredicateLookup& lookup) {
  HOSTIR_ASSIGN_OR_RETURN(const PredicateValue value, evaluate(p.args[0], lookup));
  if (p.kind == Kind::kNot) return flag(!truth(value));
  return arithmetic(Predicate{Kind::kSub, {}, {}, {}, {Predicate{}, p.args[0]}, p.column},
                    int64_t{0}, value);
}

}  // namespace

std::string to_string(const Predicate& predicate) { return print(predicate); }

Expected<PredicateValue> evaluate(const Predicate& p, const PredicateLookup& lookup) {
  switch (p.kind) {
    case Kind::kConst:
      return p.constant;
    case Kind::kField:
    case Kind::kLoop:
    case Kind::kElement:
    case Kind::kCall:
      return leaf(p, lookup);
    case Kind::kNot:
    case Kind::kNegate:
      return unary(p, lookup);
    case Kind::kIn:
      return member(p, lookup);
    default:
      break;
  }
  HOSTIR_ASSIGN_OR_RETURN(const PredicateValue a, evaluate(p.args[0], lookup));
  if (p.kind == Kind::kOr && truth(a)) return flag(true);
  if (p.kind == Kind::kAnd && !truth(a)) return flag(false);
  HOSTIR_ASSIGN_OR_RETURN(const PredicateValue b, evaluate(p.args[1], lookup));
  if (p.kind == Kind::kOr || p.kind == Kind::kAnd) return flag(truth(b));
  if (p.kind == Kind::kMatch) {
    if (!is_text(a) || !is_text(b)) return wrong("=~ compares texts");
    return flag(glob_match(std::get<std::string>(b), std::get<std::string>(a)));
  }
  if (spelling(p.kind).precedence == 4) {
    HOSTIR_ASSIGN_OR_RETURN(const bool result, compare(p.kind, a, b, p));
    return flag(result);
  }
  return arithmetic(p, a, b);
}

Expected<bool> holds(const Predicate& predicate, const PredicateLookup& lookup) {
  HOSTIR_ASSIGN_OR_RETURN(const PredicateValue value, evaluate(predicate, lookup));
  return truth(value);
}

bool glob_match(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || (pattern[p] != '*' && pattern[p] == text[t]))) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace hostir::interp
