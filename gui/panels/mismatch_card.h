// The card that explains a mismatch: who called what, field by field, where, the likely cause, the
// branches that led there, and the calls around it side by side.
#pragma once

#include "gui/panel.h"
#include "interp/session/program_facts.h"

namespace hostir::gui {

class MismatchCard {
 public:
  /// `row` is a row of the newest snapshot's ledger in state kMismatch. Draws into the current
  /// window's free space. The story is made once per snapshot.
  void draw(Frame& frame, const interp::LedgerRow& row);

 private:
  interp::SnapshotPtr shot_;  // what the story points into
  const interp::LedgerRow* row_ = nullptr;
  diagnose::MismatchCard card_;
};

}  // namespace hostir::gui
