#include "interp/session/expressions/expression.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <compare>

#include "hostir/support/glob.h"
#include "hostir/text/parse/cursor.h"
#include "interp/core/code/index_code.h"
#include "interp/session/expressions/expression_parser.h"

namespace hostir::interp {
namespace {

using Kind = Expression::Kind;

const ExpressionOperator* operator_of(Kind kind) {
  for (const ExpressionOperator& o : expression_operators()) {
    if (o.kind == kind) return &o;
  }
  return nullptr;
}

int precedence_of(Kind kind) {
  const ExpressionOperator* o = operator_of(kind);
  return o ? o->precedence : kOperand;
}

bool is_comparison(Kind kind) { return precedence_of(kind) == kComparison; }

std::string inside(const Expression& arg, int precedence) {
  const std::string text = to_string(arg);
  return precedence_of(arg.kind) < precedence ? "(" + text + ")" : text;
}

std::string print_constant(const ExpressionValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return fmt::format("{}", *i);
  if (const auto* d = std::get_if<double>(&value)) {
    std::string text = fmt::format("{}", *d);
    if (text.find_first_of(".einf") == std::string::npos) text += ".0";
    return text;
  }
  return text::quoted(std::get<std::string>(value));
}

std::string joined(const std::vector<Expression>& args, size_t first) {
  std::string out;
  for (size_t i = first; i < args.size(); ++i)
    out += (i > first ? ", " : "") + inside(args[i], kSum);
  return out;
}

std::string print_slice(const Expression& e) {
  const bool from_start =
      e.args[0].kind == Kind::kConst && e.args[0].constant == ExpressionValue(int64_t{0});
  if (e.args.size() == 1) return from_start ? ":" : inside(e.args[0], kSum) + ":";
  return inside(e.args[0], kSum) + ":" + inside(e.args[1], kSum);
}

tl::unexpected<Error> wrong(std::string message) {
  return fail(ErrorKind::kUsage, "condition", std::move(message));
}

tl::unexpected<Error> wrong_in(std::string_view what, const Expression& where) {
  return wrong(fmt::format("{} in \"{}\"", what, to_string(where)));
}

constexpr std::string_view kMixed = "cannot compare a number with a text";
constexpr std::string_view kTextSum = "cannot calculate with a text";

bool is_text(const ExpressionValue& value) { return std::holds_alternative<std::string>(value); }

bool truth(const ExpressionValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return *i != 0;
  if (const auto* d = std::get_if<double>(&value)) return *d != 0;
  return !std::get<std::string>(value).empty();
}

double as_double(const ExpressionValue& value) {
  if (const auto* i = std::get_if<int64_t>(&value)) return static_cast<double>(*i);
  return std::get<double>(value);
}

ExpressionValue flag(bool value) { return int64_t{value ? 1 : 0}; }

Expected<std::partial_ordering> order(const ExpressionValue& a, const ExpressionValue& b,
                                      const Expression& where) {
  if (is_text(a) != is_text(b)) return wrong_in(kMixed, where);
  if (is_text(a)) return std::get<std::string>(a) <=> std::get<std::string>(b);
  const auto* i = std::get_if<int64_t>(&a);
  const auto* j = std::get_if<int64_t>(&b);
  if (i && j) return *i <=> *j;
  return as_double(a) <=> as_double(b);
}

Expected<ExpressionValue> compare(const Expression& e, const ExpressionValue& a,
                                  const ExpressionValue& b) {
  if (e.kind == Kind::kMatch || e.kind == Kind::kContains) {
    if (!is_text(a) || !is_text(b))
      return wrong_in(fmt::format("{} compares texts", operator_of(e.kind)->symbol), e);
    const auto& text = std::get<std::string>(a);
    const auto& part = std::get<std::string>(b);
    return flag(e.kind == Kind::kMatch ? glob_match(part, text)
                                       : text.find(part) != std::string::npos);
  }
  HOSTIR_ASSIGN_OR_RETURN(const std::partial_ordering found, order(a, b, e));
  switch (e.kind) {
    case Kind::kEq:
      return flag(found == 0);
    case Kind::kNe:
      return flag(found != 0);
    case Kind::kLt:
      return flag(found < 0);
    case Kind::kLe:
      return flag(found <= 0);
    case Kind::kGt:
      return flag(found > 0);
    default:
      return flag(found >= 0);
  }
}

IndexExpr::Kind integer_operator(Kind kind) {
  switch (kind) {
    case Kind::kAdd:
      return IndexExpr::Kind::kAdd;
    case Kind::kSub:
      return IndexExpr::Kind::kSub;
    case Kind::kMul:
      return IndexExpr::Kind::kMul;
    case Kind::kDiv:
      return IndexExpr::Kind::kDiv;
    default:
      return IndexExpr::Kind::kMod;
  }
}

Expected<ExpressionValue> calculate(Kind kind, const ExpressionValue& a, const ExpressionValue& b,
                                    const Expression& where) {
  if (is_text(a) || is_text(b)) return wrong_in(kTextSum, where);
  const auto* i = std::get_if<int64_t>(&a);
  const auto* j = std::get_if<int64_t>(&b);
  if (i && j) {
    const bool divides = kind == Kind::kDiv || kind == Kind::kMod;
    if (divides && *j == 0) return wrong_in("division by zero", where);
    int64_t out = 0;
    if (!apply_index_op(integer_operator(kind), *i, *j, out)) return wrong_in("overflow", where);
    return out;
  }
  const double x = as_double(a);
  const double y = as_double(b);
  switch (kind) {
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

Expected<ExpressionValue> member(const Expression& e, const ExpressionLookup& lookup) {
  HOSTIR_ASSIGN_OR_RETURN(const ExpressionValue wanted, evaluate(e.args[0], lookup));
  for (size_t i = 1; i < e.args.size(); ++i) {
    const bool range = e.args[i].kind == Kind::kRange;
    const Expression& first = range ? e.args[i].args[0] : e.args[i];
    HOSTIR_ASSIGN_OR_RETURN(const ExpressionValue low, evaluate(first, lookup));
    HOSTIR_ASSIGN_OR_RETURN(const auto above, order(wanted, low, e));
    if (above == 0) return flag(true);
    if (!range) continue;
    HOSTIR_ASSIGN_OR_RETURN(const ExpressionValue high, evaluate(e.args[i].args[1], lookup));
    HOSTIR_ASSIGN_OR_RETURN(const auto below, order(wanted, high, e));
    if (above > 0 && below <= 0) return flag(true);
  }
  return flag(false);
}

Expected<int64_t> evaluate_index(const Expression& arg, const ExpressionLookup& lookup,
                                 const Expression& element) {
  HOSTIR_ASSIGN_OR_RETURN(const ExpressionValue value, evaluate(arg, lookup));
  const auto* i = std::get_if<int64_t>(&value);
  if (!i) return wrong_in("an index is not an integer", element);
  if (*i < 0) return wrong(fmt::format("index {} is negative in \"{}\"", *i, to_string(element)));
  return *i;
}

// Checks the types of an operator's operands and returns the type of its result.
Expected<NameType::Values> operator_type(const Expression& e,
                                         const std::vector<NameType::Values>& args) {
  using Values = NameType::Values;
  const auto all = [&](Values wanted) {
    return std::all_of(args.begin(), args.end(), [&](Values v) { return v == wanted; });
  };
  if (e.kind == Kind::kMatch || e.kind == Kind::kContains) {
    if (!all(Values::kTexts))
      return wrong_in(fmt::format("{} compares texts", operator_of(e.kind)->symbol), e);
  } else if (is_comparison(e.kind) || e.kind == Kind::kRange) {
    if (!all(args[0])) return wrong_in(kMixed, e);
    if (e.kind == Kind::kRange) return args[0];
  } else if (e.kind != Kind::kAnd && e.kind != Kind::kOr && e.kind != Kind::kNot) {
    if (!all(Values::kNumbers)) return wrong_in(kTextSum, e);
  }
  return Values::kNumbers;
}

}  // namespace

std::string to_string(const std::vector<SliceRange>& slice) {
  std::string out;
  for (const SliceRange& r : slice) {
    out += out.empty() ? "[" : ", ";
    if (r.lo > 0 || r.hi >= 0) out += fmt::format("{}", r.lo);
    if (r.hi != r.lo + 1) out += ":";
    if (r.hi >= 0 && r.hi != r.lo + 1) out += fmt::format("{}", r.hi);
  }
  return out.empty() ? out : out + "]";
}

std::string to_string(const Expression& e) {
  switch (e.kind) {
    case Kind::kConst:
      return print_constant(e.constant);
    case Kind::kField:
      return e.text;
    case Kind::kName:
      return "%" + e.text;
    case Kind::kElement:
      return "%" + e.text + "[" + joined(e.args, 0) + "]";
    case Kind::kSlice:
      return print_slice(e);
    case Kind::kRange:
      return inside(e.args[0], kSum) + ".." + inside(e.args[1], kSum);
    case Kind::kCall:
      return e.text + "(" + to_string(e.args[0]) + ")";
    case Kind::kIn:
      return inside(e.args[0], kSum) + " in {" + joined(e.args, 1) + "}";
    default:
      break;
  }
  const ExpressionOperator& o = *operator_of(e.kind);
  if (e.args.size() == 1) return std::string(o.symbol) + inside(e.args[0], o.precedence);
  // Comparisons do not chain; the others associate to the left.
  const int left = o.precedence == kComparison ? kSum : o.precedence;
  return fmt::format("{} {} {}", inside(e.args[0], left), o.symbol,
                     inside(e.args[1], o.precedence + 1));
}

Expected<NameType> check(const Expression& e, const Environment& environment) {
  const auto field = std::find_if(environment.fields.begin(), environment.fields.end(),
                                  [&](const Environment::Field& f) { return f.name == e.text; });
  NameType type{NameType::Values::kNumbers, true};
  switch (e.kind) {
    case Kind::kConst:
      if (is_text(e.constant)) type.values = NameType::Values::kTexts;
      return type;
    case Kind::kField: {
      if (field != environment.fields.end()) return field->type;
      std::string names;
      for (const Environment::Field& f : environment.fields) names += fmt::format(" {}", f.name);
      return wrong(fmt::format("unknown field \"{}\"; fields are{}", e.text, names));
    }
    case Kind::kName:
    case Kind::kElement:
    case Kind::kCall: {
      HOSTIR_ASSIGN_OR_RETURN(type, environment.type_of(e));
      break;
    }
    default:
      break;
  }
  const bool leaf = !operator_of(e.kind) && e.kind != Kind::kSlice && e.kind != Kind::kRange;
  std::vector<NameType::Values> args;
  for (size_t i = 0; i < e.args.size() && e.kind != Kind::kCall; ++i) {
    Expected<NameType> arg = check(e.args[i], environment);
    // A bare word on the right of a comparison is a text.
    const bool word = is_comparison(e.kind) && i > 0 && e.args[i].kind == Kind::kField;
    if (!arg && word) arg = NameType{NameType::Values::kTexts, true};
    if (!arg) return arg;
    args.push_back(arg->values);
    type.by_place = type.by_place && arg->by_place;
  }
  if (e.kind == Kind::kCall && e.args[0].kind == Kind::kElement)
    for (const Expression& index : e.args[0].args) HOSTIR_TRY(check(index, environment));
  if (!leaf) {
    HOSTIR_ASSIGN_OR_RETURN(type.values, operator_type(e, args));
  }
  return type;
}

Expected<std::vector<SliceRange>> evaluate_slice(const Expression& element,
                                                 const ExpressionLookup& lookup) {
  std::vector<SliceRange> out;
  if (element.kind != Kind::kElement) return out;
  for (const Expression& arg : element.args) {
    const bool slice = arg.kind == Kind::kSlice;
    SliceRange range;
    HOSTIR_ASSIGN_OR_RETURN(range.lo, evaluate_index(slice ? arg.args[0] : arg, lookup, element));
    if (!slice) range.hi = range.lo + 1;
    if (slice && arg.args.size() == 2) {
      HOSTIR_ASSIGN_OR_RETURN(range.hi, evaluate_index(arg.args[1], lookup, element));
      if (range.hi < range.lo) return wrong_in("a range ends before it begins", element);
    }
    out.push_back(range);
  }
  return out;
}

Expected<std::vector<SliceRange>> constant_slice(const Expression& element) {
  return evaluate_slice(element, [](const Expression&, const auto&) -> Expected<ExpressionValue> {
    return wrong("expected an index, lo:hi or ':' for each dimension, as in [2, 0:3, :]");
  });
}

Expected<ExpressionValue> evaluate(const Expression& e, const ExpressionLookup& lookup) {
  switch (e.kind) {
    case Kind::kConst:
      return e.constant;
    case Kind::kField:
    case Kind::kName:
      return lookup(e, {});
    case Kind::kElement:
    case Kind::kCall: {
      HOSTIR_ASSIGN_OR_RETURN(const auto slice,
                              evaluate_slice(e.kind == Kind::kCall ? e.args[0] : e, lookup));
      return lookup(e, slice);
    }
    case Kind::kIn:
      return member(e, lookup);
    default:
      break;
  }
  HOSTIR_ASSIGN_OR_RETURN(const ExpressionValue a, evaluate(e.args[0], lookup));
  if (e.kind == Kind::kNot) return flag(!truth(a));
  if (e.kind == Kind::kNegate) return calculate(Kind::kSub, int64_t{0}, a, e);
  if (e.kind == Kind::kOr && truth(a)) return flag(true);
  if (e.kind == Kind::kAnd && !truth(a)) return flag(false);
  HOSTIR_ASSIGN_OR_RETURN(const ExpressionValue b, evaluate(e.args[1], lookup));
  if (e.kind == Kind::kOr || e.kind == Kind::kAnd) return flag(truth(b));
  return is_comparison(e.kind) ? compare(e, a, b) : calculate(e.kind, a, b, e);
}

Expected<bool> holds(const Expression& expression, const ExpressionLookup& lookup) {
  HOSTIR_ASSIGN_OR_RETURN(const ExpressionValue value, evaluate(expression, lookup));
  return truth(value);
}

}  // namespace hostir::interp
