// Prints programs as canonical text.
//
// Canonical means that print(parse(print(p))) == print(p), byte for byte. Comments and single blank
// lines are kept, and known result types are always printed. Derived comments (`//= ...`: groups of
// communicators, local shapes, bytes of collectives) are printed on request; the lexer drops them.
#pragma once

#include <cstdint>
#include <string>

#include "hostir/ir/program.h"

namespace hostir::text {

enum class DerivedComments : uint8_t { kNone, kAll };

/// A machine in a program starts as a copy of the default one, so only differing fields are needed.
enum class MachineFields : uint8_t { kChanged, kAll };

struct PrintOptions {
  DerivedComments derived = DerivedComments::kNone;
  MachineFields machine_fields = MachineFields::kChanged;
};

std::string print(const SourceFileProgram& file, const PrintOptions& options = {});
std::string print(const Program& program, const PrintOptions& options = {});

/// Prints the program and moves the spans of its functions, parameters, instructions and operands
/// into the text, to where the parser would find them. `file`: the id of the text in the spans.
std::string print_and_locate(Program& program, uint32_t file);

/// One instruction on one line, without comments, with regions as `{ ... }`, for logs and
/// debuggers.
std::string print_line(const Function& function, InstrId instruction);

}  // namespace hostir::text
