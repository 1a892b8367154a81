// The card that explains a mismatch: who called what, field by field, where, and the likely cause.
#pragma once

#include <string>

#include "gui/panel.h"

namespace hostir::gui {

/// `row` is a ledger row in state kMismatch. Draws into the current window's free space.
void draw_mismatch_card(Frame& frame, const interp::LedgerRow& row);

/// One sentence, from where the members are and what they called; empty where nobody arrived.
std::string likely_cause(const interp::LedgerRow& row);

}  // namespace hostir::gui
