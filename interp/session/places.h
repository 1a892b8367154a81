// Places of commands and scripts, found in a program.
#pragma once

#include <string>
#include <vector>

#include "interp/session/command.h"
#include "interp/session/program_view.h"

namespace hostir::interp {

/// `@f#9`, `#9`, `%y`, `all_reduce#1`, `"label"`, `line 12`; errors as parse_command.
Expected<Place> parse_place(std::string_view text);

/// The flat instructions of a place that names instructions, in order: all copies where a call is
/// inlined more than once. `function` is what `#9` means; empty: the entry. Errors: `no_place`,
/// with what there is instead; kinds of happenings (nan, collective, ...) have no instructions:
/// empty.
Expected<std::vector<CodeIndex>> find_places(const Place& place, const ProgramView& view,
                                             const std::string& function = {});

/// What survives an edit of the program: `%h` of `@f`, or `all_reduce#2`; for `#9` and lines, which
/// do not. Other kinds come back unchanged.
Place stable_place(const Place& place, const ProgramView& view, const std::string& function);

/// Buffer registers with this name, those of the entry first.
std::vector<uint32_t> find_registers(const Code& code, std::string_view name);

/// Ordinal of an instruction among those of its op in the text, from 1: `all_reduce#2`.
int64_t op_ordinal(const Code& code, CodeIndex index);

}  // namespace hostir::interp
