// What a mismatch is about, from what each rank has called and would call next. No drawing.
//
// Sides are compared field by field; what the ranks call after it is aligned by edit distance, so
// that "swapped", "left out" and "once too often" are told only where the calls that follow say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "interp/session/snapshot.h"

namespace hostir::gui {

/// The fields of a call's fingerprint, `broadcast f32[2,3] root 1`.
struct CallFields {
  std::string kind;
  std::string reduction;  // empty: it reduces nothing
  std::string dtype;
  std::string dims;  // "2,3"
  std::string root;  // empty: it has none
  int64_t elements() const;
};
CallFields fields_of(std::string_view fingerprint);

/// All members that called the same thing; those that have not arrived are one side as well.
struct CallSide {
  std::string fingerprint;  // empty: not arrived
  std::vector<const interp::LedgerCell*> cells;
  interp::Rank first() const { return cells.front()->rank; }
};

/// One call of one rank in the order of the communicator.
struct AlignedCall {
  std::string text;  // empty: none, or not known
  interp::CodeIndex code = 0;
  bool issued = false;   // false: it would come next
  bool differs = false;  // from the first column of the same row
};
struct AlignedRow {
  uint64_t sequence = 0;
  bool here = false;               // the mismatch
  std::vector<AlignedCall> calls;  // by column
};

/// A `where` that not all ranks took alike on the way to their calls.
struct BranchTaken {
  interp::CodeIndex where = 0;
  std::string text;                        // `where coord(x) == 0`
  std::vector<std::optional<bool>> holds;  // by column; nothing: decided while it runs
};

struct MismatchStory {
  std::vector<CallSide> sides;  // most ranks first, who has not arrived last; into the ledger's row
  bool majority = false;        // the first side is what more than the others called
  std::vector<interp::Rank> columns;  // one rank of each side that has arrived, at most 8
  std::vector<AlignedRow> rows;       // what was called before, the mismatch, what comes next
  std::vector<BranchTaken> branches;
  std::string cause;  // one sentence or two
};

/// `row` is a ledger row in state kMismatch and must outlive the story.
MismatchStory mismatch_story(const interp::Snapshot& shot, const interp::LedgerRow& row);

/// The ranks of the row that have arrived, odd ones first: the side that the cause is about, other
/// small ones, then what most called. Where all read alike, who ended the run is first.
std::vector<interp::Rank> callers_of(const interp::Snapshot& shot, const interp::LedgerRow& row);

/// The row that ended the run; null: none did. Looks through the whole ledger: windows ask
/// `Model::mismatch`.
const interp::LedgerRow* mismatch_of(const interp::Snapshot& shot);

/// The program's line of an instruction, without what stands around it; empty: it has none.
std::string line_text(const interp::ProgramView& program, interp::CodeIndex code);

}  // namespace hostir::gui
