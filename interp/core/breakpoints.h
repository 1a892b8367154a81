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

class History;
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
  /// Where the history stood at a hit, whose it was, and after how many steps of that rank.
  struct Hit {
    uint64_t position = 0;
    uint64_t steps = 0;
    Rank rank = kNoRank;
    Visit visit;
  };
  std::vector<Hit> hit_places;  // of `hits`, by position
  std::vector<Hit> hits_ahead;  // not passed, after going back; by position
  std::map<Visit, Hit> visits;  // kFirstRank: of hit_places, who came first
  // By rank: the place of its newest hit in hit_places, plus 1.
  std::vector<size_t> newest;
  // The newest hit: whoever stands there has been stopped by it already.
  Rank hit_rank = kNoRank;
  uint64_t hit_steps = 0;   // of that rank
  uint64_t hit_travel = 0;  // History::travels() then
};

/// Makes `visits` and `newest` anew.
void count_visits(Breakpoint& breakpoint);

class BreakpointList {
 public:
  uint32_t add(Breakpoint breakpoint);
  bool remove(uint32_t id);
  bool enable(uint32_t id, bool enabled);
  /// The history went somewhere without asking: hits behind its position are taken back, those that
  /// were taken back and do not lie behind it count again. On another branch those are gone.
  void moved_to(const History& history);
  /// It was executed up to its position, and what was hit is counted. Who stands there has not
  /// taken what he stands before: if he was not asked, his hit stays ahead.
  void executed_to(const History& history);
  LogLines& log() { return log_; }
  const std::vector<Breakpoint>& all() const { return breakpoints_; }
  std::vector<Breakpoint>& all() { return breakpoints_; }

 private:
  const Breakpoint* find(uint32_t id) const;

  std::vector<Breakpoint> breakpoints_;
  LogLines log_;
  uint32_t next_id_ = 1;
  uint64_t position_ = 0;
  uint32_t branch_ = 0;
};

/// All flat instructions with the address `@function#number` (several where a call is inlined more
/// than once).
std::vector<CodeIndex> find_codes(const Code& code, const std::string& function, uint32_t number);

}  // namespace hostir::interp
