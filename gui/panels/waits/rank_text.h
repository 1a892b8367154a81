// Describes in words what a rank is doing, for the list of ranks, the program marks and the header
// line.
#pragma once

#include <span>
#include <string>

#include "gui/draw/theme.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::gui {

/// The waits of a rank, ordered by the rank waited for. O(log edges).
std::span<const interp::RankWait> waits_of(const interp::WaitsSnapshot& waits, interp::Rank rank);

/// The wait of the rank's first stream that is blocked in a communication; null if none is blocked.
/// O(log edges).
const interp::RankWait* stream_wait(const interp::WaitsSnapshot& waits, interp::Rank rank);

struct RankText {
  StateKind state = StateKind::kOk;
  std::string text;
};
/// `mismatch`: the ledger row that ended the run, or null (gui/panels/collectives/mismatch_row.h).
RankText rank_text(const interp::Snapshot& shot, interp::Rank rank,
                   const interp::LedgerRow* mismatch);

/// `its stream main is blocked in all_reduce seq 0 of %d (@h#11)`; empty if no stream is blocked.
std::string stream_text(const interp::Snapshot& shot, interp::Rank rank);

/// The head of a stream: `r0 stream main: all_reduce %y, waits for r4, r5 (all_reduce seq 0 of
/// %d)`.
std::string stream_head_text(const interp::Snapshot& shot, interp::Rank rank,
                             const interp::StreamSnapshot& stream);

}  // namespace hostir::gui
