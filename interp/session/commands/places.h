// Resolves the places of commands and scripts in a program.
#pragma once

#include <string>
#include <vector>

#include "interp/session/commands/command.h"
#include "interp/session/prepare/program_view.h"

namespace hostir::interp {

/// `@f#9`, `#9`, `%y`, `all_reduce#1`, `"label"`, `line 12`; errors as for parse_command.
Expected<Place> parse_place(std::string_view text);

/// The flat instructions that a place names, in order, including every copy of an inlined call.
/// `function` is the function of `#9`; empty: the entry. Empty for kinds of events (nan,
/// collective, ...), which have no instructions.
/// Errors: `no_place`, listing the alternatives.
Expected<std::vector<CodeIndex>> find_places(const Place& place, const ProgramView& view,
                                             const std::string& function = {});

/// Buffer registers with this name, those of the entry first.
std::vector<uint32_t> find_registers(const Code& code, std::string_view name);

}  // namespace hostir::interp
