// Explains a mismatch: which ranks called what, what each side called before and would call next,
// which conditions led there, and the likely cause.
//
// The calls after the mismatch are aligned by edit distance. "Swapped", "left out" and "once too
// often" are reported only if the following calls support it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interp/model/run.h"

namespace hostir::diagnose {

/// All members that made the same call; those that have not arrived form a side too.
struct CardSide {
  std::string text;  // `all_reduce sum f32[4]`; empty: not arrived
  model::Call call;  // of the first rank
  model::InstructionId instruction;
  std::vector<model::Rank> ranks;  // in the communicator's order
};

/// One call of one rank, in the communicator's order.
struct CardCall {
  std::string text;  // empty: none, or unknown
  model::InstructionId instruction;
  bool issued = false;   // false: upcoming
  bool differs = false;  // from the first column of its row
};
struct CardRow {
  uint64_t sequence = 0;
  bool here = false;            // the mismatch
  std::vector<CardCall> calls;  // by column
};

/// A condition that evaluated differently on different ranks on the way to their calls.
struct CardCondition {
  model::InstructionId instruction;
  std::string text;                        // `where coord(x) == 0`
  std::vector<std::optional<bool>> holds;  // by column; unset: known only at run time
};

struct MismatchCard {
  std::vector<CardSide> sides;       // most ranks first; ranks not arrived last
  bool majority = false;             // the first side has arrived and has more ranks than any other
  std::vector<model::Rank> columns;  // one rank of each side that has arrived, at most 8
  std::vector<CardRow> rows;         // earlier calls, the mismatch, upcoming calls
  std::vector<CardCondition> conditions;
  std::string cause;  // one or two sentences
};

/// Texts from the program, if there is one.
struct ProgramTexts {
  std::map<model::InstructionId, uint32_t> lines;        // from 1
  std::map<model::InstructionId, std::string> operands;  // `%part is a subview %a[0:3] (line 41)`
};

/// `meeting` must belong to `run`.
MismatchCard mismatch_card(const model::Run& run, const model::Meeting& meeting,
                           const ProgramTexts& words = {});

/// `called broadcast`, `named root 1`, `brought f32[3]`: the first field in which a call differs
/// from the other.
std::string difference_text(const model::Call& theirs, const model::Call& ours);

}  // namespace hostir::diagnose
