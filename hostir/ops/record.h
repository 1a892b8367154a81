// The record of an op: the single source for parser, printer, verifier, compiler, documentation and
// tests.
//
// Each op has its own file with one function, `op_<mnemonic>()`, that returns the record, written
// with designated initialisers. Other code asks the record; the files that may name an op by its
// kind, and why, are listed in tests/checks/source_rules.py. Inference, constraints and sharding
// rules are plain functions of an `OpCall`. All strings are literals.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/program.h"
#include "hostir/ops/sharding_rule.h"

namespace hostir {

namespace ops {
class Builder;
}

/// One application of an op. Operands are in slot order; variadic slots are flattened.
struct OpCall {
  OpKind kind;
  std::span<const Type> operands;  // kernels and fusions: TensorType
  const Attributes& attributes;
  const Instruction* instruction = nullptr;  // host ops: gives slots and access
  const Function* function = nullptr;        // host ops
  const Program* program = nullptr;          // symbols: meshes, kernels, called functions
  std::span<const Type> written = {};        // result types given in the text
};

/// A violated constraint: the message and the operand to point at (-1: the mnemonic).
struct Violation {
  std::string message;
  int operand = -1;
};

/// How an op handles a partial (`unreduced`) operand, depending on the reduction kind. Except for
/// `kReduceFirst`, the results are partial with the same kind and over the same axes.
enum class PartialUse : uint8_t {
  kReduceFirst,  // not defined on partial values: the operand must be reduced first
  kOthersWhole,  // the other operands must not be partial over these axes (mul, matmul)
  kAllAlike,     // all operands with this mark must be partial over these axes (add, concat)
  kAnyMix,       // any subset of the operands with this mark may be partial (maximum)
};

struct PartialUses {
  PartialUse sum = PartialUse::kReduceFirst;
  PartialUse prod = PartialUse::kReduceFirst;
  PartialUse min = PartialUse::kReduceFirst;
  PartialUse max = PartialUse::kReduceFirst;
};

struct OperandSpec {
  enum class Arity : uint8_t { kOne, kOptional, kVariadic };
  std::string_view name;
  std::string_view doc;
  Arity arity = Arity::kOne;
  Access access = Access::kUse;  // host ops: the slot's `ro(..)`, `wo(..)` or `rw(..)`
  PartialUses partial = {};      // compute ops; query with `partial_use()`
};

struct AttributeSpec {
  enum class Type : uint8_t {
    kBool,
    kInt,
    kFloat,
    kString,
    kKeyword,
    kSymbol,
    kExpr,
    kInts,
    kIntLists,
    kExprs,
    kAxes,
    kDType,
    kReduction,
    kSharding,
    kType,
    kTensor
  };
  std::string_view name;
  Type type;
  std::string_view doc;
  bool required = false;
  std::optional<Attribute> fallback = {};       // default value, which is not printed
  std::vector<std::string_view> keywords = {};  // for kKeyword
};

struct ResultSpec {
  std::string_view name;
  std::string_view doc;
  bool optional = false;  // this result and all later ones may be omitted
};

struct Constraint {
  std::string_view id;    // "matmul_c1"; also the name of tests/scripts/negative/<id>.hir
  std::string_view text;  // the requirement, in one sentence
  std::optional<Violation> (*check)(const OpCall&) =
      nullptr;  // nullptr: checked by `infer` or the verifier
};

/// The work of one application on local extents, for the cost model and the log.
struct Cost {
  double flops = 0;
  double read_bytes = 0;
  double write_bytes = 0;
};

/// How the bytes of a communication op travel: the shape of its cost (collective_cost.h gives the
/// formula), and its mark in pictures.
struct Communication {
  enum class Family : uint8_t { kReduction, kExchange, kPointToPoint };
  enum class Steps : uint8_t { kTwiceRing, kRing, kOne };     // 2(n-1), n-1, 1 messages in a row
  enum class Wire : uint8_t { kTwiceOthers, kOthers, kAll };  // 2(n-1)/n, (n-1)/n, 1 of the bytes
  Family family = Family::kExchange;
  Steps steps = Steps::kRing;
  Wire wire = Wire::kAll;
  bool has_tree = false;  // between hosts, NCCL's tree is an alternative to the ring
  std::string_view glyph;
};

/// How a composite's operands are cut where it is computed in a ring (OpRecord::expand_ring).
struct RingCut {
  int64_t parts = 1;
  std::vector<Sharding> operands;
};

/// Classifies compute ops for fusing and for partial values, so that passes never test op kinds.
enum class OpShape : uint8_t {
  kPointwise,  // a result element depends on the same element of each operand
  kBroadcast,  // pure index maps: broadcast_in_dim, transpose, reshape, slice, concat
  kSource,     // no operands: constant, iota, uniform
  kReduction,
  kContraction,  // matmul, linear
  kIndexed,      // elements accessed by position or content: take, put, sort, pad, ...
  kLayout,       // reshard, pack, unpack
  kComposite,    // replaced by its `expand` before sharding propagation
  kHost,         // communication and host ops
};

/// Classifies host ops for code that flattens, orders and issues host functions, so that it never
/// tests op kinds. Communication ops have no role; their OpClass identifies them.
enum class HostRole : uint8_t {
  kNone,
  kCommunicator,  // declarations of handles
  kStream,
  kAlloc,  // buffers: allocate, view, free, compute
  kView,
  kFree,
  kLaunch,
  kWait,
  kGroup,  // regions and their terminators
  kLoop,
  kBranch,
  kCall,
  kYield,
  kReturn,
};

/// The prose of a record, in documentation order.
struct Documentation {
  std::string_view shapes;
  std::string_view sharding;  // host ops: layouts before and after
  std::string_view dtypes;
  std::string_view errors;
  std::string_view cost;  // with units
};

struct OpRecord {
  std::string_view mnemonic;
  OpClass op_class = OpClass::kCompute;
  OpShape shape = OpShape::kPointwise;
  HostRole role = HostRole::kNone;
  std::string_view summary;  // one sentence
  Documentation doc;
  std::vector<OperandSpec> operands;
  std::vector<AttributeSpec> attributes;
  std::vector<ResultSpec> results;
  std::vector<Constraint> constraints;
  /// Infers the result types, with global shapes, from the operand types. Runs only if all
  /// constraints hold. Ignores operand shardings. Null for host ops whose results are events.
  Expected<std::vector<Type>> (*infer)(const OpCall&) = nullptr;
  /// The sharding rule; compute ops only.
  Expected<ShardingRule> (*rule)(const OpCall&, std::span<const Type> results) = nullptr;
  /// Overrides `OperandSpec::partial` if the result depends on types or on which operands are
  /// present; else null.
  PartialUse (*partial)(const OpCall&, size_t operand, Reduction kind) = nullptr;
  /// Appends the same computation in simpler ops and returns one new value per result; the caller
  /// names the values. Composites are always expanded, before propagation. Other ops are expanded
  /// if `needs_expand` returns true, because part of the work must happen once, after the reduce
  /// (linear with bias -> linear, add; reduce_mean -> reduce_sum, div). Null: never expanded.
  /// Errors are kept in the builder: `index_unbound` if a size must be a number.
  std::vector<ValueId> (*expand)(ops::Builder& builder) = nullptr;
  /// True if this call must be expanded when a reduction factor is cut (linear: only with bias).
  /// Null for composites.
  bool (*needs_expand)(const OpCall&) = nullptr;
  /// For an op along a dimension (`indexed_dim`) of its only operand, where that dimension is cut
  /// into `parts`: appends the computation block by block, and the exchange between blocks. Returns
  /// no values if this is not worthwhile. Null: the dimension is gathered. A composite with this
  /// function is expanded last, when the cuts of its operand are known.
  std::vector<ValueId> (*expand_blocks)(ops::Builder& builder, int64_t parts) = nullptr;
  /// For a composite whose operands 0 and 1 have the next to last dimension cut over the same axes:
  /// appends the computation in as many steps as there are parts, between which the parts of
  /// operand 1 and what belongs to them move on in a ring. Returns no values if this is not
  /// possible. What it returns for an optional result is for the `expand_ring` of the ops that use
  /// the result.
  std::vector<ValueId> (*expand_ring)(ops::Builder& builder, const RingCut& cut) = nullptr;
  Cost (*cost)(const OpCall&, std::span<const Extents> operands,
               std::span<const Extents> results) = nullptr;
  std::optional<Reduction> fold;  // reductions: how elements combine; kAvg: their mean
  Communication communication;    // communication ops, and `glyph` of groups of them
  std::string_view gradient;  // the VJP as one line of text, or the reason for none ("none: ...")
  /// The vector-Jacobian product. Given the cotangent of each result (invalid: zero), appends ops
  /// that compute the cotangent of each operand and returns these (invalid: none). The builder's
  /// call is the instruction with all operands and results, including optional ones. If null, a
  /// composite is expanded and then differentiated; any other op has no gradient.
  std::vector<ValueId> (*vjp)(ops::Builder& builder, std::span<const ValueId> cotangents) = nullptr;
  std::string_view example;  // a runnable program
  std::string_view source;   // the paper, spec section or system that the rule is from
  /// The op's syntax, in the small grammar of hostir/text/README.md, section "assembly". Empty: the
  /// generic form `%r = op %a, %b {attributes}`.
  std::string_view assembly;
};

/// The record of an op kind. The table is built once, from ops.def.
const OpRecord& record(OpKind kind);
/// The kind with this mnemonic.
std::optional<OpKind> find_op(std::string_view mnemonic);
/// The op's attribute with this name, or nullptr.
const AttributeSpec* find_attribute_spec(const OpRecord& op, std::string_view name);

/// Operand types of an instruction, with slots flattened and `none` skipped.
std::vector<Type> operand_types(const Function& function, const Instruction& instruction);
/// The result types written in the text; NoType for results without one.
std::vector<Type> written_types(const Function& function, const Instruction& instruction);
/// The slot (index into the record's operands) that holds operand `operand`. Handles variadic
/// slots.
size_t slot_of(const OpRecord& op, size_t operand);
/// How the op handles operand `operand` if it is partial with reduction `kind`.
PartialUse partial_use(const OpCall& call, size_t operand, Reduction kind);
/// Checks the constraints and infers the result types. The error has one diagnostic per violated
/// constraint. Generic errors: `op_c1` number of operands, `op_c2` unknown attribute, `op_c3`
/// missing attribute, `op_c4` wrong attribute type or keyword, `op_c5` number of results.
Expected<std::vector<Type>> check_and_infer(const Program& program, const Function& function,
                                            const Instruction& instruction);

}  // namespace hostir
