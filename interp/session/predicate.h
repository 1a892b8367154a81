// Conditions: one small expression language for breakpoints, watches and event filters.
//
// `rank == 3 && seq >= 10`, `op =~ "all_*"`, `%y[0, 1] > 0.5`, `wait > 2us`, `rank in {0, 1}`,
// `nan(%y)`. A predicate is a value tree. The evaluation context (a rank at an instruction, an
// event row of the log) defines the fields; an unknown field is an evaluation error that names it.
// Values are integers, floats and texts; comparing a number with a text is an error. Units: ns us
// ms s, KiB MiB GiB. Absent: assignments, calls with side effects.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hostir/support/expected.h"

namespace hostir::interp {

using PredicateValue = std::variant<int64_t, double, std::string>;

struct Predicate {
  enum class Kind : uint8_t {
    kConst,    // constant
    kField,    // text: `rank`, `seq`, `op`, ...
    kLoop,     // text: `%i`, a loop variable or host integer
    kElement,  // text: `%y`, args: indices; local value of a tensor at global coordinates
    kCall,     // text: `coord`, `nan`, `inf`, `min`, `max`, `mean`, `digest`; symbol: its argument
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
    kMatch,  // `=~`: a glob with * and ?
    kIn,     // first argument equals one of the others
    kAdd,
    kSub,
    kMul,
    kDiv,
    kMod,
  };
  Kind kind = Kind::kConst;
  PredicateValue constant = int64_t{1};
  std::string text;
  std::string symbol;
  std::vector<Predicate> args;
  uint32_t column = 0;  // 0-based byte offset in the parsed text, for messages

  friend bool operator==(const Predicate& a, const Predicate& b) {
    return a.kind == b.kind && a.constant == b.constant && a.text == b.text &&
           a.symbol == b.symbol && a.args == b.args;
  }
};

/// The value of a leaf (kField, kLoop, kElement with evaluated indices, kCall).
/// Errors: unknown in this context; the message names it.
using PredicateLookup = std::function<Expected<PredicateValue>(const Predicate& leaf,
                                                               const std::vector<int64_t>& index)>;

/// Errors are kUsage; the message has the text, a caret line and what was expected.
Expected<Predicate> parse_predicate(std::string_view text);
/// Canonical text; parses back to an equal predicate.
std::string to_string(const Predicate& predicate);

/// && and || short-circuit.
Expected<PredicateValue> evaluate(const Predicate& predicate, const PredicateLookup& lookup);
/// True if the value is neither zero nor an empty text.
Expected<bool> holds(const Predicate& predicate, const PredicateLookup& lookup);

/// `*` and `?` globs.
bool glob_match(std::string_view pattern, std::string_view text);

}  // namespace hostir::interp
