// What a collective moves: which rank sends which block to which rank, from its operands' layouts.
//
// Computed from the program, not from a run, so it can be drawn before the collective is issued.
// Boxes determine the transfers (LANGUAGE section 2). Operands without a layout have the same shape
// on every member, and their blocks are cut along dimension 0 in group order. The algorithm (ring,
// tree) is not modelled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gui/panels/layout/layout_geometry.h"
#include "interp/session/prepare/program_view.h"

namespace hostir::gui {

/// A block of one member's result that comes from another member's input; `from == to`: it does not
/// move.
struct Transfer {
  interp::Rank from = 0;
  interp::Rank to = 0;
  Box box;  // global index space
  int64_t bytes = 0;
};

/// One side of the transfer: a buffer with each member's part.
struct ReshardSide {
  std::string name;  // without '%'
  Extents global;
  std::vector<std::optional<Box>> boxes;  // by member; nullopt: `none`, or sizes not known yet
  const Sharding* sharding = nullptr;     // null: the program gives no layout
};

struct Reshard {
  interp::CodeIndex code = 0;
  std::string kind;     // mnemonic
  std::string reduces;  // "sum" if blocks are reduced; else empty
  std::vector<interp::Rank> members;
  bool point_to_point = false;  // `members` are the sender and the receiver, in this order
  size_t group = 0;             // index of the group in the communicator
  size_t groups = 0;
  ReshardSide before;
  ReshardSide after;
  std::vector<Transfer> transfers;  // ordered by (to, from)
  int64_t moved_bytes = 0;          // between different ranks
  std::string sentence;             // describes the transfer in English
  std::string problem;  // why the transfers cannot be determined; `transfers` is then empty
};

/// True for collectives, send and recv.
bool is_communication(const interp::ProgramView& program, interp::CodeIndex index);
/// Pictures draw no ribbons for groups larger than this.
inline constexpr size_t kMaxRibbonMembers = 32;

/// What the instruction moves in the group of `rank`; nullopt for other instructions. A send or
/// recv moves data between `rank` and its peer only; the peer's buffer is missing if several of
/// its instructions could complete this one (`add_partner`). O(members^2) up to `most_members`; a
/// larger group gets no transfers.
std::optional<Reshard> reshard_of(const interp::ProgramView& program, interp::CodeIndex index,
                                  interp::Rank rank, size_t most_members = SIZE_MAX);
/// Adds the other buffer of a send or recv: that of the peer's instruction `partner`.
void add_partner(const interp::ProgramView& program, interp::CodeIndex partner, Reshard& reshard);
/// The side as a layout over all ranks, for drawing. Pointers point into `reshard`.
LayoutSource layout_of(const ReshardSide& side, const Reshard& reshard,
                       const interp::ProgramView& program);

}  // namespace hostir::gui
