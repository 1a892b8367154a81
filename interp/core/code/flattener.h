// Compiles host functions to Code; used by compile_code() only.
//
// 1. Parameters get registers.
// 2. Each instruction becomes one flat instruction, regions become jumps with glue at their ends,
//    and a call becomes its callee's body with its own registers.
// 3. Streams and communicators are resolved here and have no registers.
// 4. Layouts are tracked in text order: a buffer operand has the layout its name last had.
// Stops at the first error.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "interp/core/code/code.h"

namespace hostir::interp {

/// The sizes, names, ranks and coordinates in an expression, each once, in order of appearance.
std::vector<IndexExpr> values_named_in(const IndexExpr& expr);

class Flattener {
 public:
  /// The ranks whose placements are needed. kOfFirstRank: the others get only sizes, and their
  /// packed buffers get no blocks.
  enum class Blocks : uint8_t { kOfAllRanks, kOfFirstRank };
  Flattener(Code& code, const Program& program, Blocks blocks)
      : code_(code), program_(program), blocks_(blocks) {}
  Expected<void> run(const Function& entry);

 private:
  // One function body being flattened: the entry, or one inlined call.
  struct Scope {
    const Function* function = nullptr;
    const Mesh* mesh = nullptr;
    uint32_t function_index = 0;
    CodeIndex call = kNoCode;
    std::vector<uint32_t> registers;    // by ValueId
    std::vector<StreamIndex> streams;   // by ValueId
    std::vector<CommIndex> comms;       // by ValueId
    std::vector<LayoutIndex> declared;  // by ValueId
    std::vector<LayoutIndex> current;   // by ValueId
    std::vector<std::pair<std::string, ValueId>> visible;
    std::vector<uint32_t> numbers;           // by InstrId: n of @f#n
    std::vector<uint32_t> return_registers;  // of an inlined call: registers of the results
  };

  Expected<Scope> open_scope(const Function& function, CodeIndex call);
  Expected<void> region(Scope& scope, RegionId id, CodeIndex parent);
  /// The code of an instruction, without operands and results.
  static CodeInstruction begin(const Scope& scope, InstrId id, CodeIndex parent);
  Expected<void> instruction(Scope& scope, InstrId id, CodeIndex parent);
  Expected<void> control(Scope& scope, InstrId id, CodeIndex index);
  void return_from_call(const Scope& scope, CodeIndex index);
  Expected<void> loop(Scope& scope, InstrId id, CodeIndex index);
  Expected<void> where(Scope& scope, InstrId id, CodeIndex index);
  Expected<void> group(Scope& scope, InstrId id, CodeIndex parent);
  Expected<void> call(Scope& scope, InstrId id, CodeIndex index);
  /// Checks an argument's layout against the parameter's: it is an error if they claim different
  /// boxes or a different partial value.
  /// Errors: `call_layout`.
  Expected<void> same_layout(LayoutIndex given, LayoutIndex wanted, const Operand& operand,
                             std::string_view given_name, std::string_view wanted_name) const;
  Expected<void> yield(Scope& scope, InstrId id, CodeIndex index);
  Expected<void> operands(Scope& scope, InstrId id, CodeInstruction& out);
  Expected<void> results(Scope& scope, InstrId id, CodeInstruction& out);
  Expected<void> expressions(Scope& scope, InstrId id, CodeInstruction& out);
  Expected<void> declare(Scope& scope, ValueId value, bool declared_here);
  CodeIndex glue(CodeRole role, const CodeInstruction& like, CodeIndex parent);

  // flattener_index.cpp
  /// The register of the integer that a name refers to here; kNoRegister if there is none.
  static uint32_t integer_register(const Scope& scope, std::string_view name);
  Expected<IndexCodeId> compile_expr(const Scope& scope, const IndexExpr& expr);
  Expected<size_t> compile_ops(const Scope& scope, const IndexExpr& expr,
                               std::vector<IndexCode::Op>& out);
  Expected<uint32_t> coordinate_table(const Scope& scope, const std::string& axis);
  Expected<uint32_t> membership_table(const std::string& mesh);

  // flattener_lists.cpp
  /// Appends the expressions of an attribute; a list of integers gives one for each of them.
  Expected<void> expression_list(const Scope& scope, const Attributes& attributes,
                                 std::string_view name, std::vector<IndexCodeId>& out);
  /// Gives a list that a `read` makes a register for each integer.
  Expected<void> declare_list(Scope& scope, InstrId id, CodeInstruction& out);
  /// How many integers a `read` of ranges gives. Errors: `code_list`.
  Expected<int64_t> list_length(const Scope& scope, const Instruction& read,
                                const CodeInstruction& code);
  Expected<int64_t> range_length(const Scope& scope, const Instruction& read, size_t dim,
                                 LayoutIndex layout, Rank rank);
  /// Errors: `all_to_all_c4` if no group has as many members as there are counts.
  Expected<void> check_counts(const Scope& scope, InstrId id, const CodeInstruction& code) const;

  // flattener_layout.cpp
  Expected<LayoutIndex> layout(const Scope& scope, const Type& type, ValueId used_as);
  Expected<LayoutTable> make_layout(const Scope& scope, const Type& type, CommIndex comm);
  /// The extents of a value whose sizes depend on nothing but the rank.
  Expected<Extents> extents_on(Rank rank, const std::vector<IndexCodeId>& sizes,
                               const Type& type) const;
  Expected<Placement> place(const Scope& scope, const Type& type, Rank rank, CommIndex comm);
  CommIndex communicator_of(const Scope& scope, ValueId value) const;

  // flattener_comm.cpp
  Expected<void> communicator(Scope& scope, const Instruction& instruction, InstrId id);
  Expected<void> stream(Scope& scope, const Instruction& instruction);

  uint32_t new_register(const Scope& scope, ValueId value);
  uint32_t function_index(const Function& function);

  Code& code_;
  const Program& program_;
  Blocks blocks_;
  std::vector<const Function*> call_stack_;
  std::vector<std::vector<RegisterMove>> yield_targets_;  // innermost last; `to` only
  std::map<std::string, LayoutIndex> layout_index_;
  std::map<std::string, uint32_t> table_index_;
  std::map<std::pair<const Function*, uint32_t>, CommIndex> comm_index_;
};

/// The placement of a buffer type on one rank, with all sizes known. The interpreter also uses it,
/// for sizes that the host reads at run time.
Placement make_placement(const Program& program, const Type& type, const Extents& extents,
                         Rank rank, const Communicator* comm);

}  // namespace hostir::interp
