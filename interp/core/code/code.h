// Host functions compiled for interpretation: flat instructions, names resolved to registers.
//
// `compile_code()` flattens regions into jumps, inlines calls, and resolves every name once, so
// that the interpreter's inner loop uses no strings and allocates nothing. One Code serves all
// ranks; per-rank data (placements, groups) is in tables indexed by rank. Immutable after
// compilation; shared by interpreter, backend, log and snapshots.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/program.h"
#include "interp/core/code/index_code.h"
#include "interp/core/ids.h"

namespace hostir::interp {

/// One communicator declared in the host function.
struct Communicator {
  std::string name;                       // without '%'
  std::vector<AxisRef> axes;              // `over {tp}`; empty for literal groups
  std::vector<std::vector<Rank>> groups;  // members in group order
  std::vector<int32_t> group_of_rank;     // -1: not a member of any group
  std::vector<int32_t> position_of_rank;
  uint64_t content_key = 0;  // hash of (members, ordinal), equal in all logs of a run
  /// `comm over {tp}`, `comm groups [[0,1],[2,3]]`
  std::string to_string() const;
};

/// A placement for every rank. Ranks that hold the same part share one, so that a value replicated
/// on thousands of ranks takes no more memory than on one.
class PlacementTable {
 public:
  bool empty() const { return index_.empty(); }
  size_t size() const { return index_.size(); }
  const Placement& operator[](size_t rank) const { return distinct_[index_[rank]]; }
  const std::vector<Placement>& distinct() const { return distinct_; }

  /// Gives the next rank an existing placement, or a new one.
  void add(uint32_t index) { index_.push_back(index); }
  void add(Placement placement) {
    index_.push_back(static_cast<uint32_t>(distinct_.size()));
    distinct_.push_back(std::move(placement));
  }

 private:
  std::vector<Placement> distinct_;
  std::vector<uint32_t> index_;  // by rank
};

/// Placements of one buffer-typed value (or of one layout change) for every rank. Where a size is
/// an integer that the host reads while it runs, `by_rank` is empty and the interpreter makes the
/// placement when the instruction runs.
struct LayoutTable {
  Type type;  // global shape and layout, sizes bound
  PlacementTable by_rank;
  std::vector<IndexCodeId> dynamic_shape;  // one per dimension, if by_rank is empty
  bool is_static() const { return !by_rank.empty(); }
};
using LayoutIndex = uint32_t;
inline constexpr LayoutIndex kNoLayout = 0xffffffffu;
inline constexpr uint32_t kNoRegister = 0xffffffffu;
inline constexpr CodeIndex kNoCode = 0xffffffffu;
inline constexpr IndexCodeId kNoExpr = 0xffffffffu;

/// Whether a flat instruction comes from the source or is glue inserted by flattening. Glue is not
/// a decision; it runs together with the instruction before it.
enum class CodeRole : uint8_t { kInstruction, kLoopEnd, kJump };

struct RegisterMove {
  uint32_t to = 0;
  uint32_t from = 0;  // kNoRegister: `none`
};

/// One flat instruction. Register numbers index the rank's register file.
struct CodeInstruction {
  OpKind kind = OpKind::return_;
  CodeRole role = CodeRole::kInstruction;
  uint32_t address = 0;        // n of `@f#n`
  uint32_t function = 0;       // index into Code::functions (inlined calls keep their own)
  InstrId instr;               // in that function
  CodeIndex jump = kNoCode;    // target of for_, loop end, where, jump; group: its first member
  CodeIndex end = kNoCode;     // for_, where, group, call: the next instruction after it
  CodeIndex parent = kNoCode;  // the enclosing for_, where, group or call
  CodeIndex call = kNoCode;    // the innermost inlined call that contains it
  CodeIndex group = kNoCode;   // the group it is a member of; a group follows its members
  uint32_t index_register = kNoRegister;  // for_, loop end: the loop variable
  std::vector<uint32_t> operands;         // registers, by operand; kNoRegister: no buffer
  std::vector<LayoutIndex> layouts;  // per operand: static layout before, kNoLayout if not a buffer
  std::vector<LayoutIndex> becomes;  // per operand: layout after, kNoLayout if unchanged
  std::vector<uint32_t> results;     // registers
  LayoutIndex result_layout = kNoLayout;  // alloc, subview, reinterpret
  std::vector<RegisterMove> moves;        // for_, yield, call, return: names passed on
  std::vector<RegisterMove> exit_moves;   // for_, loop end: carried values to results
  std::vector<IndexCodeId> exprs;         // bounds, starts, condition, index, counts
  std::vector<IndexCodeId>
      more_exprs;  // subview: limits (kNoExpr: to the end); all_to_all: receives; assert: what
                   // its condition names, by values_named_in()
  IndexCodeId position_expr = kNoExpr;  // root, peer or shift, if the op has one
  uint32_t membership = 0;              // where in @mesh: index into Code::rank_tables
  StreamIndex stream = kNoStream;
  CommIndex comm = kNoComm;
};

/// The source value of a register.
struct RegisterInfo {
  uint32_t function = 0;     // index into Code::functions
  ValueId value;             // in that function
  CodeIndex call = kNoCode;  // the inlined call it belongs to
  bool buffer = false;
  LayoutIndex layout = kNoLayout;  // declared layout of a buffer
};

/// A flattened host program with all sizes bound, compiled from `program`.
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
  std::vector<IndexCode> exprs;
  std::vector<std::vector<int64_t>> rank_tables;  // coordinates, membership; by rank
  std::vector<RegisterInfo> registers;
  std::vector<uint32_t> parameters;  // registers, in order
  uint32_t register_count = 0;
  Rank rank_count = 0;

  /// The instruction's source form.
  const Instruction& source(CodeIndex index) const {
    const CodeInstruction& c = instructions[index];
    return functions[c.function]->instr(c.instr);
  }
  /// `@mlp.host#9`
  std::string address(CodeIndex index) const;
  /// `%y`; empty for kNoRegister.
  std::string register_name(uint32_t reg) const;
  /// All registers with this value name (without '%'), the entry function's first.
  std::vector<uint32_t> find_registers(std::string_view name) const;
};

struct CodeOptions {
  std::string entry;   // host function; empty: the first one
  SizeBindings sizes;  // every symbolic size of the program
};

/// Errors: `code_entry` no such host function; `code_size` unbound sizes; `code_call` recursion or
/// a callee that is not a host function; `code_comm` a communicator with a duplicate or
/// out-of-range rank; `code_mesh` unknown mesh; `code_op` an op that is not allowed in host
/// functions; `code_name`; `call_layout`; `partial_claim`.
Expected<std::shared_ptr<const Code>> compile_code(std::shared_ptr<const Program> program,
                                                   const CodeOptions& options);

}  // namespace hostir::interp
