// What a mismatch is about, side by side: who called what, what each side called before and would
// call next, which conditions led there, and the likely cause.
//
// What the ranks call after it is aligned by edit distance, so that "swapped", "left out" and "once
// too often" are told only where the calls that follow say so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "interp/model/run.h"

namespace hostir::diagnose {

/// All members that called the same; those that have not arrived are one side as well.
struct CardSide {
  std::string text;  // `all_reduce sum f32[4]`; empty: not arrived
  model::Call call;  // of the first of them
  model::InstructionId instruction;
  std::vector<model::Rank> ranks;  // in the communicator's order
};

/// One call of one rank in the order of the communicator.
struct CardCall {
  std::string text;  // empty: none, or not known
  model::InstructionId instruction;
  bool issued = false;   // false: it would come next
  bool differs = false;  // from the first column of the same row
};
struct CardRow {
  uint64_t sequence = 0;
  bool here = false;            // the mismatch
  std::vector<CardCall> calls;  // by column
};

/// A condition that not all ranks took alike on the way to their calls.
struct CardCondition {
  model::InstructionId instruction;
  std::string text;                        // `where coord(x) == 0`
  std::vector<std::optional<bool>> holds;  // by column; unset: decided while it runs
};

struct MismatchCard {
  std::vector<CardSide> sides;       // most ranks first, who has not arrived last
  bool majority = false;             // the first side is what more than the others called
  std::vector<model::Rank> columns;  // one rank of each side that has arrived, at most 8
  std::vector<CardRow> rows;         // what was called before, the mismatch, what comes next
  std::vector<CardCondition> conditions;
  std::string cause;  // one sentence or two
};

/// What a program tells about instructions, where there is one.
struct ProgramWords {
  std::map<model::InstructionId, uint32_t> lines;        // from 1
  std::map<model::InstructionId, std::string> operands;  // `%part is a subview %a[0:3] (line 41)`
};

/// `meeting` is one of `run`'s.
MismatchCard mismatch_card(const model::Run& run, const model::Meeting& meeting,
                           const ProgramWords& words = {});

/// `called broadcast`, `named root 1`, `brought f32[3]`: the first field of a call that is unlike
/// the other's.
std::string difference_text(const model::Call& theirs, const model::Call& ours);

}  // namespace hostir::diagnose
