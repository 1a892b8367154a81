// Breakpoints: conditions that stop a run, forwards and backwards.
//
// A breakpoint is plain data. Kinds that match an instruction stop *before* it runs on a matching
// rank. Kinds that match results (`kWritten`, `kNan`) stop after the decision that made the result
// visible. Conditions are integer expressions over rank, coord, size and loop names (`%i`, the
// innermost loop of that name). Each breakpoint counts its hits and skips the first `ignore` of
// them. The list is not part of the run's state: going back keeps the breakpoints and corrects
// `hits`.
//
// A breakpoint stops every rank that reaches it, or only the first rank of each visit (`Stops`).
// With `log` set it is a log point: it never stops, and each hit writes a line (LogLines).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/index_expr.h"
#include "interp/core/history/log_lines.h"
#include "interp/core/history/program_point.h"
#include "interp/core/ids.h"

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
    kFirstRank,  // later ranks of the same visit are only counted; not for kWritten, kNan
  };
  uint32_t id = 0;  // given by BreakpointList::add
  Kind kind = Kind::kInstruction;
  Stops stops = Stops::kEachRank;  // call `count_visits` after changing this
  bool enabled = true;
  bool temporary = false;        // disabled after it stopped once
  std::vector<CodeIndex> codes;  // kInstruction: all flat copies of the address
  std::string op;                // kOp
  std::string comm;              // kCollective: name of the communicator, or empty
  std::string tensor;            // kWritten, kNan: value name without '%'; kNan: empty for any
  std::vector<Rank> ranks;       // empty: any
  std::optional<IndexExpr> condition;
  /// An additional condition, tested last, with the state at the stop (before the instruction, or
  /// after the decision that made the write visible). Empty: none.
  std::function<bool(const Interpreter&, Rank, CodeIndex)> accepts;
  /// Makes the line that a hit writes, from the same state. If set, this is a log point.
  std::function<std::string(const Interpreter&, Rank, CodeIndex)> log;
  uint64_t ignore = 0;  // stops (kEachRank: hits, kFirstRank: visits) or log lines to skip
  uint64_t hits = 0;    // up to the current position
  /// The history position of a hit, the rank, and that rank's step count.
  struct Hit {
    uint64_t position = 0;
    uint64_t steps = 0;
    Rank rank = kNoRank;
    Visit visit;
  };
  std::vector<Hit> hit_places;  // one per counted hit, by position
  std::vector<Hit> hits_ahead;  // hits ahead of the position, after going back; by position
  std::map<Visit, Hit> visits;  // kFirstRank: of hit_places, the first of each visit
  // By rank: index of its newest hit in hit_places, plus 1.
  std::vector<size_t> newest;
  // The newest hit: a rank still at this place has already been stopped by it.
  Rank hit_rank = kNoRank;
  uint64_t hit_steps = 0;   // step count of that rank
  uint64_t hit_travel = 0;  // History::travels() at that time
};

/// Recomputes `visits` and `newest`.
void count_visits(Breakpoint& breakpoint);

class BreakpointList {
 public:
  uint32_t add(Breakpoint breakpoint);
  bool remove(uint32_t id);
  /// Call after the history moved without consulting the breakpoints. Takes back hits past the new
  /// position and counts hits again that are at or before it. Hits on an abandoned branch are
  /// dropped.
  void moved_to(const History& history);
  /// Call after execution up to the current position, with the hits on the way counted. A rank has
  /// not yet executed its next instruction: if it was not tested there, its hit stays ahead.
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

}  // namespace hostir::interp
