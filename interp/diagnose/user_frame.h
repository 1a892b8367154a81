// Which frame of a stack is the user's own: the innermost one outside torch and Python itself.
#pragma once

#include <string>
#include <vector>

#include "interp/model/instruction.h"

namespace hostir::diagnose {

/// Not of torch, Python's own library, or compiled code.
bool is_user_frame(const model::StackFrame& frame);
/// The innermost such frame; nothing where there is none.
const model::StackFrame* user_frame(const std::vector<model::StackFrame>& frames);
/// `/home/ada/fr.py:7 in ar, from fr.py:12 in layer, from fr.py:33 in <module>`: the user's frames
/// from the innermost on, as many as tell something; the place of an instruction without frames;
/// empty: nothing is known.
std::string stack_text(const model::Instruction& instruction);

}  // namespace hostir::diagnose
