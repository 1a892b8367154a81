// Programs: the contents of one part of a `.hir` file, as values in flat arenas.
//
// All ops in all kinds of functions share one `Instruction` type; the op's record (hostir/ops)
// gives its meaning. A Program can be copied, compared and printed. Comparison ignores source
// positions and formatting but not comments. Ids are indices into the arenas of *one* function and
// stay valid as long as instructions are only appended; passes build new functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/attribute.h"
#include "hostir/ir/machine.h"
#include "hostir/ir/mesh.h"
#include "hostir/ir/op_kind.h"
#include "hostir/ir/script.h"
#include "hostir/ir/type.h"
#include "hostir/support/ids.h"

namespace hostir {

using ValueId = Id<struct ValueTag>;
using InstrId = Id<struct InstrTag>;
using RegionId = Id<struct RegionTag>;

/// Comments from the source; derived `//=` comments are not stored.
struct Comments {
  std::vector<std::string> leading;  // full lines before the item, without `//`; "" is a blank line
  std::string trailing;              // on the same line
  friend bool operator==(const Comments&, const Comments&) = default;
};

/// The value of the lowered fusion whose elements something holds, as they are or as addends of
/// them: the one id of a value on its way from the fusion through host code and the log to the
/// window. Its number is that of the value in the fusion as after the phase `unrolled`, where
/// values are in text order; values that composites are made of have the numbers after those.
/// Comparing programs ignores it, as it ignores source positions.
struct Origin {
  ValueId value;  // invalid: none of them
  bool valid() const { return value.valid(); }
  friend bool operator==(const Origin&, const Origin&) { return true; }
};

struct Value {
  std::string name;  // without '%'; unique among the names visible at its definition
  Type type;
  InstrId defined_by;         // invalid for a parameter or region argument
  uint32_t result_index = 0;  // index into the results of `defined_by`
  SourceSpan span;
  Origin origin;  // of a buffer: what it was allocated for
  friend bool operator==(const Value&, const Value&) = default;
};

/// How an instruction accesses a buffer operand. `kUse` is not a buffer access: streams, events,
/// communicators, and values in fusions and kernels.
enum class Access : uint8_t { kUse, kRead, kWrite, kReadWrite };

struct Operand {
  ValueId value;                 // invalid: `none`
  Access access = Access::kUse;  // ro, wo, rw
  uint8_t slot = 0;              // index into the record's operand list
  SharedSharding becomes;        // `rw(%y -> [{dp}, {}])`: the layout after the instruction
  SourceSpan span;
  Origin origin;  // of a buffer that is written: what it holds after the instruction
  friend bool operator==(const Operand&, const Operand&) = default;
};

/// The fusion instruction from which a host or kernel instruction was lowered: `@mlp#3`. Numbers
/// are 1-based, in preorder.
struct OpRef {
  std::string function;
  uint32_t number = 0;
  friend auto operator<=>(const OpRef&, const OpRef&) = default;
};

struct Instruction {
  OpKind kind = OpKind::add;
  std::vector<Operand> operands;  // in the order of the record's slots
  std::vector<ValueId> results;
  Attributes attributes;
  std::vector<RegionId> regions;
  std::vector<OpRef> from;
  Comments comments;
  SourceSpan span;       // the whole instruction
  SourceSpan name_span;  // the mnemonic
  Instruction();         // out of line, see Function
  Instruction(const Instruction&);
  Instruction(Instruction&&) noexcept;
  Instruction& operator=(const Instruction&);
  Instruction& operator=(Instruction&&) noexcept;
  ~Instruction();
  friend bool operator==(const Instruction&, const Instruction&);
};

/// A list of instructions, `{ ... }`, and the values it introduces (loop variable, carried values).
struct Region {
  std::vector<ValueId> arguments;
  std::vector<InstrId> instructions;
  std::vector<std::string> closing_comments;  // before the closing brace
  friend bool operator==(const Region&, const Region&) = default;
};

enum class FunctionKind : uint8_t { kFusion, kKernel, kHost };

struct Parameter {
  ValueId value;
  bool inout = false;  // host functions: may be written
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// A declared result: `(%y: tensor<...> <@m, ...>)`. In host functions `alias(%w1)` marks a result
/// that is the updated parameter.
struct ResultDecl {
  std::string name;  // without '%'; may be empty
  Type type;
  std::optional<std::string> alias;  // name of a parameter
  SourceSpan span;
  friend bool operator==(const ResultDecl&, const ResultDecl&) = default;
};

struct Function {
  FunctionKind kind = FunctionKind::kFusion;
  std::string name;  // without '@'
  std::string mesh;  // host functions: the world mesh; else empty
  std::vector<Parameter> params;
  std::vector<ResultDecl> results;
  RegionId body;
  std::vector<Value> values;
  std::vector<Instruction> instructions;
  std::vector<Region> regions;
  std::string rule;      // kernels: the user's sharding rule, `([i,k],[k,j])->([i,j])`, or empty
  std::string gradient;  // kernels with a rule: the function that computes the gradient, or empty
  std::vector<std::string> documentation;
  Comments comments;
  SourceSpan span;
  SourceSpan name_span;
  SourceSpan rule_span;
  SourceSpan gradient_span;

  Value& value(ValueId id) { return values[id.index]; }
  const Value& value(ValueId id) const { return values[id.index]; }
  Instruction& instr(InstrId id) { return instructions[id.index]; }
  const Instruction& instr(InstrId id) const { return instructions[id.index]; }
  Region& region(RegionId id) { return regions[id.index]; }
  const Region& region(RegionId id) const { return regions[id.index]; }

  ValueId add_value(std::string name, Type type);
  RegionId add_region();
  /// Appends to a region and sets the definition of the results.
  InstrId add_instruction(RegionId region, Instruction instruction);

  /// All instructions in preorder: element n-1 has the address `@f#n`.
  std::vector<InstrId> preorder() const;
  /// The value with this name; the first one if several regions use the name.
  std::optional<ValueId> find_value(std::string_view name) const;
  /// A name that is not used in the function yet: `stem`, `stem_1`, ...
  std::string unique_name(std::string_view stem) const;

  // Out of line: instantiating these would cost every includer about a second of compile time.
  Function();
  Function(const Function&);
  Function(Function&&) noexcept;
  Function& operator=(const Function&);
  Function& operator=(Function&&) noexcept;
  ~Function();
  friend bool operator==(const Function&, const Function&);
};

/// The operands of one slot, in order.
std::vector<ValueId> operands_in_slot(const Instruction& instruction, uint8_t slot);

/// One part of a file. `order` records the order of the pieces for printing.
struct Program {
  enum class PieceKind : uint8_t { kMesh, kMachine, kFunction, kTest };
  struct Piece {
    PieceKind kind;
    uint32_t index;
    Comments comments = {};  // for meshes, machines and tests; functions have their own
    friend bool operator==(const Piece&, const Piece&) = default;
  };

  std::vector<Mesh> meshes;
  std::vector<Machine> machines;
  std::vector<Function> functions;
  std::vector<TestPiece> tests;
  std::vector<Piece> order;
  std::vector<std::string> leading_comments;  // before the first piece
  std::vector<std::string> closing_comments;  // after the last piece

  const Mesh* find_mesh(std::string_view name) const;
  const Machine* find_machine(std::string_view name) const;
  const Function* find_function(std::string_view name) const;
  Function* find_function(std::string_view name);
  Mesh& add_mesh(Mesh mesh);
  Machine& add_machine(Machine machine);
  Function& add_function(Function function);
  TestPiece& add_test(TestPiece test);
  /// The default function of a command without `@f`: the first fusion, else the first host
  /// function.
  const Function* main_function() const;

  Program();  // out of line, see Function
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();
  friend bool operator==(const Program&, const Program&);
};

/// A whole file: parts separated by `// -----`.
struct SourceFileProgram {
  std::vector<Program> parts;
  friend bool operator==(const SourceFileProgram&, const SourceFileProgram&) = default;
};

}  // namespace hostir
