// Host functions compiled for interpretation: flat instructions, names resolved to registers.
//
// `compile_code()` flattens regions into jumps, calls inline, and resolves every name once, so that
// the interpreter's inner loop touches no strings and allocates nothing. One Code serves all ranks;
// what differs per rank (placements, groups) is in tables indexed by rank. Immutable once made;
// shared by interpreter, backend, log and snapshots.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/program.h"
#include "interp/core/ids.h"

namespace hostir::interp {

/// One communicator declared in the host function.
struct Communicator {
  std::string name;                       // without '%'
  std::vector<AxisRef> axes;              // `over {tp}`; empty for literal groups
  std::vector<std::vector<Rank>> groups;  // members in group order
  std::vector<int32_t> group_of_rank;     // -1: in no group
  std::vector<int32_t> position_of_rank;
  uint64_t content_key = 0;  // (members, ordinal), equal in all files of a run
};

/// Placements of one buffer-typed value (or of one layout change) for every rank.
struct LayoutTable {
  Type type;  // global shape and layout, sizes bound
  std::vector<Placement> by_rank;
};
using LayoutIndex = uint32_t;
inline constexpr LayoutIndex kNoLayout = 0xffffffffu;

/// One flat instruction. Register numbers index the rank's register file.
struct CodeInstruction {
  OpKind kind = OpKind::return_;
  uint32_t address = 0;              // n of `@f#n`
  uint32_t function = 0;             // index into Code::functions (inlined calls keep their own)
  InstrId instr;                     // in that function
  uint32_t jump = 0;                 // control flow: where to go
  uint32_t loop = 0;                 // index of the loop it belongs to, 0 = none (for stepping out)
  std::vector<uint32_t> operands;    // registers, in operand order; kNoRegister for `none`
  std::vector<LayoutIndex> layouts;  // per operand: static layout before, kNoLayout if not a buffer
  std::vector<LayoutIndex> becomes;  // per operand: layout after
  std::vector<uint32_t> results;     // registers
  StreamIndex stream = 0;
  CommIndex comm = 0;
};
inline constexpr uint32_t kNoRegister = 0xffffffffu;

/// A flattened host program, with sizes bound. `program` is the text it came from.
struct Code {
  std::shared_ptr<const Program> program;
  std::string entry;                       // name of the host function
  std::vector<const Function*> functions;  // entry first; point into `program`
  const Mesh* world = nullptr;             // points into `program`
  SizeBindings sizes;
  std::vector<CodeInstruction> instructions;
  std::vector<std::string> streams;  // names
  std::vector<Communicator> communicators;
  std::vector<LayoutTable> layouts;
  uint32_t register_count = 0;
  Rank rank_count = 0;

  /// The instruction's source form.
  const Instruction& source(CodeIndex index) const {
    const CodeInstruction& c = instructions[index];
    return functions[c.function]->instr(c.instr);
  }
  /// `@mlp.host#9`
  std::string address(CodeIndex index) const;
};

struct CodeOptions {
  std::string entry;   // host function
  SizeBindings sizes;  // every symbolic size that the text needs
};

/// Errors: unbound sizes, recursion, communicators with a rank twice, layouts of unknown meshes.
Expected<std::shared_ptr<const Code>> compile_code(std::shared_ptr<const Program> program,
                                                   const CodeOptions& options);

}  // namespace hostir::interp
