// Breakpoints: where a run stops by itself, forwards and backwards.
//
// A breakpoint is data. Kinds that look at an instruction stop *before* it runs on a matching rank;
// kinds that look at results (`kWritten`, `kNan`) stop after the decision that made the result
// visible. Conditions are integer expressions over rank, coord, size and loop names (`%i`, the
// innermost loop with that name). Hit counts are per breakpoint; `ignore` hits pass before it
// stops. The list lives outside the run's state: going back keeps breakpoints and corrects `hits`.
//
// A breakpoint stops every rank that comes to it, or of each visit only the rank that comes first
// (`Stops`). One with `log` is a log point: it never stops, each hit writes a line (LogLines).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/index_expr.h"
#include "interp/core/code.h"
#include "interp/core/ids.h"
#include "interp/core/log_lines.h"
#include "interp/core/program_point.h"

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
  enum class Stops : uint8_t {
    kEachRank,
    kFirstRank,  // the others that come to the same visit are counted; not for kWritten, kNan
  };
  uint32_t id = 0;  // given by BreakpointList::add
  Kind kind = Kind::kInstruction;
  Stops stops = Stops::kEachRank;  // changed: call `count_visits`
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
  /// The line that a hit writes, asked with the same state; set: a log point.
  std::function<std::string(const Interpreter&, Rank, CodeIndex)> log;
  uint64_t ignore = 0;  // of what would stop (kEachRank: hits, kFirstRank: visits) or write
  uint64_t hits = 0;    // on the line up to the position
  /// Where the history stood at a hit, and whose it was.
  struct Hit {
    uint64_t position = 0;
    Rank rank = kNoRank;
    Visit visit;
  };
  std::vector<Hit> hit_places;  // of `hits`, by position; not of a log point
  std::vector<Hit> hits_ahead;  // those that going back has taken back, by position
  std::map<Visit, Hit> visits;  // kFirstRank: of hit_places, who came first
  // The same of a log point, which is hit more often than anybody would stop: positions alone.
  std::vector<uint64_t> logged;
  std::vector<uint64_t> logged_ahead;
  // The newest hit: whoever stands there has been stopped by it already.
  Rank hit_rank = kNoRank;
  uint64_t hit_steps = 0;   // of that rank
  uint64_t hit_travel = 0;  // History::travels() then
};

/// Makes `visits` anew.
void count_visits(Breakpoint& breakpoint);

class BreakpointList {
 public:
  uint32_t add(Breakpoint breakpoint);
  bool remove(uint32_t id);
  bool enable(uint32_t id, bool enabled);
  /// The history went to `position` without asking: hits behind it are taken back, those that were
  /// taken back and lie before it count again. On another `branch` than before those are gone.
  void moved_to(uint64_t position, uint32_t branch);
  /// It was executed up to `position`, and what was hit is counted.
  void executed_to(uint64_t position, uint32_t branch);
  LogLines& log() { return log_; }
  const std::vector<Breakpoint>& all() const { return breakpoints_; }
  std::vector<Breakpoint>& all() { return breakpoints_; }

 private:
  std::vector<Breakpoint> breakpoints_;
  LogLines log_;
  uint32_t next_id_ = 1;
  uint32_t branch_ = 0;
};

/// All flat instructions with the address `@function#number` (several where a call is inlined more
/// than once).
std::vector<CodeIndex> find_codes(const Code& code, const std::string& function, uint32_t number);

}  // namespace hostir::interp
