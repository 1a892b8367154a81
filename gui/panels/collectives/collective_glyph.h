// The colour and glyph of each instruction, from the op's record: Σ all_reduce, ⊞ all_gather,
// → send.
//
// A timeline slice too narrow for its name still shows the glyph, so kinds of communication can be
// told apart without colour.
#pragma once

#include <string>
#include <string_view>

#include "gui/draw/theme.h"

namespace hostir::gui {

/// The glyph for a communication op's mnemonic; empty for all other ops.
std::string_view collective_glyph(std::string_view mnemonic);

/// "Σ all_reduce"; just the mnemonic if it has no glyph.
std::string with_glyph(std::string_view mnemonic);

/// The event kind of a host instruction. `on_stream`: the instruction is enqueued on a stream. A
/// wait on a stream takes no host time, so only a wait by the host itself counts as waiting.
EventKind event_kind(std::string_view mnemonic, bool on_stream);

}  // namespace hostir::gui
