// What a collective moves: who sends which block to whom, from the layouts of its operands.
//
// Pure: made from the program, not from a run, so that it can be drawn before the collective has
// been issued. Boxes decide everything (LANGUAGE section 2); operands without a layout hold the
// same shape on every member, and their blocks are cut along dimension 0 in group order. Absent:
// the algorithm (ring, tree) that carries it out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/panels/layout_geometry.h"
#include "interp/core/code.h"

namespace hostir::gui {

/// A block that one member's result takes from one member's input; `from == to`: it stays.
struct Transfer {
  interp::Rank from = 0;
  interp::Rank to = 0;
  Box box;  // global index space
  int64_t bytes = 0;
};

/// One side of the move: a buffer with the part of every rank of the group.
struct ReshardSide {
  std::string name;  // without '%'
  Extents global;
  std::vector<std::optional<Box>> boxes;  // by member; nothing: `none`, or sizes are not known yet
  const Sharding* sharding = nullptr;     // null: no layout was written
};

struct Reshard {
  interp::CodeIndex code = 0;
  std::string kind;     // mnemonic
  std::string reduces;  // "sum" where blocks are folded; else empty
  std::vector<interp::Rank> members;
  size_t group = 0;  // of the communicator
  size_t groups = 0;
  ReshardSide before;
  ReshardSide after;
  std::vector<Transfer> transfers;  // by (to, from)
  int64_t moved_bytes = 0;          // between different ranks
  std::string sentence;             // what it does, in English
  std::string problem;              // why it cannot be told; then there are no transfers
};

/// True for collectives, send and recv.
bool is_communication(const interp::Code& code, interp::CodeIndex index);
/// Pictures draw no ribbons among more members than these.
inline constexpr size_t kMaxRibbonMembers = 32;

/// What the instruction moves in the group of `rank`; nothing for other instructions. O(members^2)
/// up to `most_members`; a larger group has no transfers.
std::optional<Reshard> reshard_of(const interp::Code& code, interp::CodeIndex index,
                                  interp::Rank rank, size_t most_members = SIZE_MAX);
/// The side as a layout over all ranks, to be drawn like any other; pointers into the reshard.
LayoutSource layout_of(const ReshardSide& side, const Reshard& reshard, const interp::Code& code);

}  // namespace hostir::gui
