// `test` pieces: inputs, runs and expectations, as values.
//
// The parser builds them, the printer prints them, and hostir/script runs them. A statement that
// the runner cannot handle is a parse error, so no expectation is skipped silently.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "hostir/ir/mesh.h"
#include "hostir/ir/sharding.h"

namespace hostir {

/// `exact`, `ulp(4)`, `atol(1e-6)`, `rtol(1e-5)`, `atol(..) rtol(..)`.
struct Tolerance {
  enum class Kind : uint8_t { kDefault, kExact, kUlp, kAbsRel } kind = Kind::kDefault;
  int64_t ulp = 0;
  double atol = 0;
  double rtol = 0;
  friend bool operator==(const Tolerance&, const Tolerance&) = default;
};

/// A value in a script: inline `"2xf32=[1 2]"`, a file `@x.npy`, a generator, or a name bound
/// earlier. A generator takes its shape and dtype from the place of use unless `type` is set.
struct ValueSpec {
  enum class Kind : uint8_t { kInline, kFile, kFull, kIota, kUniform, kNormal, kName };
  Kind kind = Kind::kInline;
  std::string text;                 // inline text, file path, or name without '%'
  std::optional<std::string> type;  // generators: "4x8xf32"
  uint64_t seed = 0;
  double a = 0;  // full: the value; uniform: lo; normal: mean
  double b = 1;  // uniform: hi; normal: standard deviation
  SourceSpan span;
  friend bool operator==(const ValueSpec&, const ValueSpec&);  // full(nan) == full(nan)
};

/// `%x = value ...`
struct BindStatement {
  std::string name;
  ValueSpec value;
  friend bool operator==(const BindStatement&, const BindStatement&) = default;
};

/// `run @f(%x, full(1.0)) schedules(20) seed(7) ranks(0, 1) mesh(tp=4) freeze(2) ...`
struct RunStatement {
  std::string function;
  std::vector<ValueSpec> arguments;
  int64_t schedules = 1;
  uint64_t seed = 0;
  std::vector<int64_t> ranks;  // the ranks that start; empty: all
  std::vector<std::pair<std::string, int64_t>> mesh_sizes;
  std::vector<std::string> keep;                         // values that fusion must not eliminate
  std::string overlap;                                   // none (empty), collectives, ring, auto
  std::vector<std::pair<std::string, int64_t>> feeding;  // argument %name = output k (1-based)
  std::optional<std::string> against;                    // fusion to compare the outputs with
  friend bool operator==(const RunStatement&, const RunStatement&) = default;
};

/// `change {{line}} {{line}} to {{line}}`: the following runs of the test are of the program with
/// these lines replaced. Indentation does not count.
struct ChangeStatement {
  std::vector<std::string> from;  // whole lines, in order; only one place of the part has them
  std::vector<std::string> to;    // may be empty
  friend bool operator==(const ChangeStatement&, const ChangeStatement&) = default;
};

/// Selects a version of a value: `before all_reduce#1`, `after #7`, `iteration 3`, `rank 1`.
struct ValuePoint {
  std::string value;                  // without '%'
  std::optional<int64_t> instance;    // `#n`
  std::optional<std::string> before;  // an instruction address: `all_reduce#1` or `@f#9`
  std::optional<std::string> after;
  std::optional<int64_t> iteration;
  std::optional<int64_t> rank;
  friend bool operator==(const ValuePoint&, const ValuePoint&) = default;
};

/// `expect_output %y == VALUE tol`, `expect_value POINT == VALUE tol`.
struct ExpectValue {
  bool output = true;  // false: `expect_value`, which may name any value
  ValuePoint point;
  ValueSpec expected;
  Tolerance tolerance;
  friend bool operator==(const ExpectValue&, const ExpectValue&) = default;
};

/// `expect_sharding @f %y = <@t, ...>`
struct ExpectSharding {
  std::string function;
  std::string value;
  Sharding sharding;
  friend bool operator==(const ExpectSharding&, const ExpectSharding&) = default;
};

/// One line of `expect_collectives { all_reduce sum over {tp} 8 bytes }`.
struct CollectiveLine {
  std::string kind;
  std::optional<Reduction> reduction;
  std::vector<AxisRef> over;
  std::string mesh;              // `over {x} in @stage1`; empty: the mesh of the run
  std::optional<int64_t> bytes;  // per rank
  std::optional<int64_t> times;  // `x 100`
  friend bool operator==(const CollectiveLine&, const CollectiveLine&) = default;
};
struct ExpectCollectives {
  std::vector<CollectiveLine> lines;  // in order, the same on every rank
  friend bool operator==(const ExpectCollectives&, const ExpectCollectives&) = default;
};
/// `expect_no all_gather, all_to_all`
struct ExpectNo {
  std::vector<std::string> kinds;
  friend bool operator==(const ExpectNo&, const ExpectNo&) = default;
};
/// `expect_same_as_unsharded tolerance(exact)`
struct ExpectSameAsUnsharded {
  Tolerance tolerance;
  friend bool operator==(const ExpectSameAsUnsharded&, const ExpectSameAsUnsharded&) = default;
};
struct ExpectNoLeaks {
  friend bool operator==(const ExpectNoLeaks&, const ExpectNoLeaks&) = default;
};
/// `expect_error ID {{text}}`
struct ExpectError {
  std::string id;
  std::string text;
  friend bool operator==(const ExpectError&, const ExpectError&) = default;
};
/// `expect_deadlock {{text}}`
struct ExpectDeadlock {
  std::string text;
  friend bool operator==(const ExpectDeadlock&, const ExpectDeadlock&) = default;
};
/// `happens_before all_gather#1, all_reduce#1`: the first finishes on every rank before the second
/// starts on any rank.
struct ExpectHappensBefore {
  std::string first;
  std::string second;
  friend bool operator==(const ExpectHappensBefore&, const ExpectHappensBefore&) = default;
};

struct RepeatStatement;
struct Statement;

/// `repeat 10 { ... }`
struct RepeatStatement {
  int64_t count = 1;
  std::vector<Statement> body;
  std::vector<std::string> closing_comments;
  friend bool operator==(const RepeatStatement&, const RepeatStatement&);
};

struct Statement {
  std::variant<BindStatement, ChangeStatement, RunStatement, RepeatStatement, ExpectValue,
               ExpectSharding, ExpectCollectives, ExpectNo, ExpectSameAsUnsharded, ExpectNoLeaks,
               ExpectError, ExpectDeadlock, ExpectHappensBefore>
      body;
  std::vector<std::string> leading_comments;
  std::string trailing_comment;
  SourceSpan span;
  friend bool operator==(const Statement&, const Statement&) = default;
};

inline bool operator==(const RepeatStatement& a, const RepeatStatement& b) {
  return a.count == b.count && a.body == b.body && a.closing_comments == b.closing_comments;
}

struct TestPiece {
  std::string title;
  std::vector<Statement> statements;
  std::vector<std::string> documentation;
  std::vector<std::string> leading_comments;
  std::vector<std::string> closing_comments;
  SourceSpan span;
  friend bool operator==(const TestPiece&, const TestPiece&) = default;
};

/// `// expected-error@+1 {{text}}` in a negative script, or `expected-error[mesh_c2]@+1 {{text}}`.
struct ExpectedDiagnostic {
  Severity severity = Severity::kError;
  int64_t line = 0;  // absolute, 1-based
  std::string text;  // a substring of the message
  std::string id = {};
};

}  // namespace hostir
