// Hue and glyph of instructions, in one table for all panels: Σ all_reduce, ⊞ all_gather, → send.
//
// A zone that is too narrow for its name still shows its glyph, so that kinds of communication are
// told apart without their colours.
#pragma once

#include <string>
#include <string_view>

#include "gui/theme.h"

namespace hostir::gui {

/// The glyph of a communication op by its mnemonic; empty for everything else.
std::string_view collective_glyph(std::string_view mnemonic);

/// "Σ all_reduce"; the mnemonic alone where it has no glyph.
std::string with_glyph(std::string_view mnemonic);

/// The hue of a host instruction. `on_stream`: it enqueues to a stream; a wait of a stream takes
/// the host no time, only one of the host itself is drawn as waiting.
EventKind event_kind(std::string_view mnemonic, bool on_stream);

}  // namespace hostir::gui
