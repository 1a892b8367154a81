// One small expression language for conditions, log points, watches and event filters.
//
// `rank == 3 && seq >= 10`, `op =~ "all_*"`, `%y[0, 1] > 0.5`, `wait > 2us`, `rank in {0, 2..5}`,
// `nan(%y)`, `%y[0, :].max`. An expression is a value tree. Its names mean what the place of use
// says: an `Environment` types them, an `ExpressionLookup` reads them (on a rank at an instruction,
// of an event of a log, of a displayed tensor). Values are integers, floats and texts; comparing a
// number with a text is an error. Units: ns us ms s, B K M G, KiB MiB GiB. Absent: assignments,
// calls with side effects, and the index expressions of programs (hostir/ir/index_expr.h).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::interp {

using ExpressionValue = std::variant<int64_t, double, std::string>;

/// One dimension of a slice: `2`, `2:5`, `:`.
struct SliceRange {
  int64_t lo = 0;
  int64_t hi = -1;  // exclusive; -1: to the end
  friend bool operator==(const SliceRange&, const SliceRange&) = default;
};

/// `[2, 0:5, :]`; nothing without ranges.
std::string to_string(const std::vector<SliceRange>& slice);

struct Expression {
  enum class Kind : uint8_t {
    kConst,    // constant
    kField,    // text: `rank`, `seq`, `op`, ...; an argument of `coord`: a mesh axis
    kName,     // text: `%i`, a loop variable or host integer; in calls and watches also a tensor
    kElement,  // text: `%y`, args: indices and kSlice; part of a tensor in global coordinates
    kCall,     // text: `coord`, `nan`, `max`, ...; args: one kField, kName or kElement
    kSlice,    // `lo:hi` (two args) or `lo:` (one), inside kElement
    kRange,    // `lo..hi`, both included, inside `in {}`
    kNot,
    kNegate,
    kOr,
    kAnd,
    kEq,
    kNe,
    kLt,
    kLe,
    kGt,
    kGe,
    kMatch,     // `=~`: a glob with * and ?
    kContains,  // the second text is part of the first
    kIn,        // first argument equals one of the others
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMod,
  };
  Kind kind = Kind::kConst;
  ExpressionValue constant = int64_t{1};
  std::string text;
  std::vector<Expression> args;

  friend bool operator==(const Expression&, const Expression&) = default;
};

/// Errors are kUsage; the message has the text, a caret line and what was expected.
Expected<Expression> parse_expression(std::string_view text);
/// Canonical text; parses back to an equal expression.
std::string to_string(const Expression& expression);

/// What the values of a name are, and whether the place in the program alone determines them.
struct NameType {
  enum class Values : uint8_t { kNumbers, kTexts } values = Values::kNumbers;
  bool by_place = false;
};

/// The names that an expression may use in one place of use.
struct Environment {
  struct Field {
    std::string_view name;
    NameType type;
  };
  std::span<const Field> fields;
  /// The type of a kName, kElement or kCall. Errors say why it is not available.
  std::function<Expected<NameType>(const Expression&)> type_of;
};

/// Checks names and types. Errors (kUsage, `condition`) name what is unknown and what exists. A
/// bare word in a comparison is a string: `op == all_reduce`.
Expected<NameType> check(const Expression& expression, const Environment& environment);

/// The value of a kField, kName, kElement or kCall; `slice` holds the evaluated indices of a
/// kElement, or of the kElement in a kCall.
/// Errors: it has no value here; the message names it.
using ExpressionLookup = std::function<Expected<ExpressionValue>(
    const Expression& leaf, const std::vector<SliceRange>& slice)>;

/// && and || short-circuit. An unknown number is a NaN, for which comparisons are false.
Expected<ExpressionValue> evaluate(const Expression& expression, const ExpressionLookup& lookup);
/// True if the value is neither zero nor an empty text.
Expected<bool> holds(const Expression& expression, const ExpressionLookup& lookup);
/// The evaluated indices of a kElement; empty for others. Errors: an index is not an integer or
/// negative.
Expected<std::vector<SliceRange>> evaluate_slice(const Expression& element,
                                                 const ExpressionLookup& lookup);
/// The same where every index must be a constant.
Expected<std::vector<SliceRange>> constant_slice(const Expression& element);

}  // namespace hostir::interp
