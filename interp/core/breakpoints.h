// Breakpoints: where a run stops by itself, forwards and backwards.
//
// A breakpoint is data. Kinds that look at an instruction stop *before* it runs on a matching rank;
// kinds that look at results (`kWritten`, `kNan`) stop after the decision that made the result
// visible. Conditions are integer expressions over rank, coord, size and loop names (`%i`, the
// innermost loop with that name). Hit counts are per breakpoint; `ignore` hits pass before it
// stops. The list lives outside the run's state: going back keeps breakpoints and corrects `hits`.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/index_expr.h"
#include "interp/core/code.h"
#include "interp/core/ids.h"

namespace hostir::interp {

class Interpreter;

struct Breakpoint {
  enum class Kind : uint8_t {
    kInstruction,  // `codes`
    kOp,           // `op`: a mnemonic
    kCollective,   // any communication instruction; `comm` narrows
    kWritten,      // `tensor`: a task that writes the value has finished
    kNan,          // a written value holds NaN or Inf (turns statistics on in the backend)
  };
  uint32_t id = 0;  // given by BreakpointList::add
  Kind kind = Kind::kInstruction;
  bool enabled = true;
  bool temporary = false;        // disabled after it stopped once
  std::vector<CodeIndex> codes;  // kInstruction: all flat copies of the address (`find_codes`)
  std::string op;                // kOp
  std::string comm;              // kCollective: name of the communicator, or empty
  std::string tensor;            // kWritten, kNan: value name without '%'; kNan: empty for any
  std::vector<Rank> ranks;       // empty: any
  std::optional<IndexExpr> condition;
  /// A further condition, asked last, with the state at the stop (before the instruction, or after
  /// the decision that made the write visible); empty: none.
  std::function<bool(const Interpreter&, Rank, CodeIndex)> accepts;
  uint64_t ignore = 0;  // hits that do not stop
  uint64_t hits = 0;    // on the line up to the position
  /// Where the history stood at a hit, and whose it was.
  struct Hit {
    uint64_t position = 0;
    Rank rank = kNoRank;
  };
  std::vector<Hit> hit_places;  // of `hits`, by position
  std::vector<Hit> hits_ahead;  // those that going back has taken back, by position
  // The newest hit: whoever stands there has been stopped by it already.
  Rank hit_rank = kNoRank;
  uint64_t hit_steps = 0;   // of that rank
  uint64_t hit_travel = 0;  // History::travels() then
};

class BreakpointList {
 public:
  uint32_t add(Breakpoint breakpoint);
  bool remove(uint32_t id);
  bool enable(uint32_t id, bool enabled);
  /// The history went to `position` without asking: hits behind it are taken back, those that were
  /// taken back and lie before it count again.
  void moved_to(uint64_t position);
  const std::vector<Breakpoint>& all() const { return breakpoints_; }
  std::vector<Breakpoint>& all() { return breakpoints_; }

 private:
  std::vector<Breakpoint> breakpoints_;
  uint32_t next_id_ = 1;
};

/// All flat instructions with the address `@function#number` (several where a call is inlined more
/// than once).
std::vector<CodeIndex> find_codes(const Code& code, const std::string& function, uint32_t number);

}  // namespace hostir::interp
