// From programs to canonical text.
//
// Canonical: print(parse(print(p))) == print(p), byte for byte. Comments and single blank lines are
// kept; result types are always written where they are known. Derived comments (`//= ...`: groups
// of communicators, local shapes, bytes of collectives) are printed on request and dropped when
// read.
#pragma once

#include <string>

#include "hostir/ir/program.h"

namespace hostir::text {

enum class DerivedComments : uint8_t { kNone, kAll };

/// A machine that is written starts from the default one, so its text holds what differs from that.
enum class MachineFields : uint8_t { kChanged, kAll };

struct PrintOptions {
  DerivedComments derived = DerivedComments::kNone;
  MachineFields machine_fields = MachineFields::kChanged;
};

std::string print(const SourceFileProgram& file, const PrintOptions& options = {});
std::string print(const Program& program, const PrintOptions& options = {});
/// One function of the program, with its comments.
std::string print(const Program& program, const Function& function,
                  const PrintOptions& options = {});

/// One instruction on one line, regions as `{ ... }`, without comments: for logs and debuggers.
std::string print_line(const Function& function, InstrId instruction);
/// `@f#n`, the place in preorder counted from 1; `@f#?` for an instruction that is in no region.
std::string address(const Function& function, InstrId instruction);

}  // namespace hostir::text
