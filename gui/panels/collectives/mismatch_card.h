// The card that explains a mismatch: which rank called what, field by field, where, the likely
// cause, the branches that led there, and the surrounding calls side by side.
#pragma once

#include "gui/tree/panel.h"
#include "interp/session/answers/program_facts.h"

namespace hostir::gui {

class MismatchCard {
 public:
  /// `row` must be a row of the newest snapshot's ledger in state kMismatch. Draws into the free
  /// space of the current window. The explanation is computed once per snapshot.
  void draw(Frame& frame, const interp::LedgerRow& row);

 private:
  interp::SnapshotPtr shot_;  // `card_` points into it
  const interp::LedgerRow* row_ = nullptr;
  diagnose::MismatchCard card_;
};

}  // namespace hostir::gui
