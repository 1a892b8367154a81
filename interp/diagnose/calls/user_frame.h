// Finds the user's frame in a stack: the innermost one outside torch and Python itself.
#pragma once

#include <string>
#include <vector>

#include "interp/model/instruction.h"

namespace hostir::diagnose {

/// False for frames of torch, Python's standard library, and compiled code.
bool is_user_frame(const model::StackFrame& frame);
/// The innermost such frame; null if there is none.
const model::StackFrame* user_frame(const std::vector<model::StackFrame>& frames);
/// `/home/ada/fr.py:7 in ar, from fr.py:12 in layer, from fr.py:33 in <module>`: the informative
/// user frames from the innermost on. The place of an instruction without frames; empty if unknown.
std::string stack_text(const model::Instruction& instruction);
/// The same, a frame each.
std::vector<std::string> stack_lines(const model::Instruction& instruction);

}  // namespace hostir::diagnose
