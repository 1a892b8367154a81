// The record of an op: everything that parser, printer, verifier, compiler, documentation and tests
// know about it.
//
// One function `op_<mnemonic>()` per op, in a file of its own, returns the record written with
// designated initialisers. No other file mentions the op by kind (no `case OpKind::`). Inference,
// constraints and sharding rules are plain functions of an `OpCall`. Strings are literals.
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

/// What an op is applied to. Operands in the order of the slots; variadic slots are flattened.
struct OpCall {
  OpKind kind;
  std::span<const Type> operands;  // kernels and fusions: TensorType
  const Attributes& attributes;
  const Instruction* instruction = nullptr;  // where slots and access matter (host ops)
  const Function* function = nullptr;        // host ops
  const Program* program = nullptr;          // symbols: meshes, kernels, called functions
  std::span<const Type> written = {};        // result types as far as the text gave them
};

/// A broken constraint: what to say and which operand to point at (-1: the mnemonic).
struct Violation {
  std::string message;
  int operand = -1;
};

/// What an op does with an operand that is partial (`unreduced`), by the kind of the reduction. In
/// every case but `kReduceFirst` the results are partial, of the same kind and over the same axes.
enum class PartialUse : uint8_t {
  kReduceFirst,  // not defined on partial values: reduce the operand before
  kOthersWhole,  // the other operands must not be partial over these axes (mul, matmul)
  kAllAlike,     // all operands with this mark are partial over these axes (add, concat)
  kAnyMix,       // any of the operands with this mark may be partial, the others whole (maximum)
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
  Access access = Access::kUse;  // for host ops: what the slot's `ro(..)`, `wo(..)`, `rw(..)` is
  PartialUses partial = {};      // compute ops; ask through `partial_use()`
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
  std::optional<Attribute> fallback = {};       // printed only where it differs from this
  std::vector<std::string_view> keywords = {};  // of kKeyword
};

struct ResultSpec {
  std::string_view name;
  std::string_view doc;
  bool optional = false;  // it and those after it may be left unnamed
};

struct Constraint {
  std::string_view id;    // "matmul_c1"; also the name of tests/scripts/negative/<id>.hir
  std::string_view text;  // what must hold, one sentence
  std::optional<Violation> (*check)(const OpCall&) =
      nullptr;  // nullptr: checked by infer or verifier
};

/// Work of one application on given local extents, for the cost model and the log.
struct Cost {
  double flops = 0;
  double read_bytes = 0;
  double write_bytes = 0;
};

/// What fusing and the linear algebra of partial values need to know, so that passes never ask
/// kinds.
enum class OpShape : uint8_t {
  kPointwise,  // result element depends on the same element of each operand
  kBroadcast,  // pure index maps: broadcast_in_dim, transpose, reshape, slice, concat
  kSource,     // no operands: constant, iota, uniform
  kReduction,
  kContraction,  // matmul, linear
  kIndexed,      // elements found by position or by content: take, put, sort, pad, ...
  kLayout,       // reshard, pack, unpack
  kComposite,    // computed by its `expand` alone, before shardings are propagated
  kHost,         // communication and host ops
};

/// What a host op is to those who flatten, order and issue host functions, so that they never ask
/// kinds. Communication ops have none: their class says it.
enum class HostRole : uint8_t {
  kNone,
  kCommunicator,  // declares a handle
  kStream,
  kAlloc,  // makes, views, releases, computes on buffers
  kView,
  kFree,
  kLaunch,
  kWait,
  kGroup,  // regions, and what ends them
  kLoop,
  kBranch,
  kCall,
  kYield,
  kReturn,
};

/// The prose of a record, in the order that documentation prints it.
struct Documentation {
  std::string_view shapes;
  std::string_view sharding;  // host ops: the layout before and after
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
  /// Result types from operand types; runs after all constraints held. Global shapes. Shardings of
  /// operands are ignored. Host ops whose results are events leave it null.
  Expected<std::vector<Type>> (*infer)(const OpCall&) = nullptr;
  /// Compute ops only.
  Expected<ShardingRule> (*rule)(const OpCall&, std::span<const Type> results) = nullptr;
  /// Where the answer depends on types or on which operands are there; else null, and the operands'
  /// marks hold.
  PartialUse (*partial)(const OpCall&, size_t operand, Reduction kind) = nullptr;
  /// The same computation in simpler ops: appends them and returns one fresh value per result (the
  /// caller names those). Composites are always expanded, before propagation; other ops where
  /// `needs_expand` says so, because a part of the work must happen once, after the reduce (linear
  /// with bias -> linear, add; reduce_mean -> reduce_sum, div). Null: the op is computed as it is.
  /// Errors stick to the builder: `index_unbound` where a size must be a number.
  std::vector<ValueId> (*expand)(ops::Builder& builder) = nullptr;
  /// Whether `expand` is needed for this call when a reduction factor is cut (linear: only with
  /// bias). Null for composites.
  bool (*needs_expand)(const OpCall&) = nullptr;
  Cost (*cost)(const OpCall&, std::span<const Extents> operands,
               std::span<const Extents> results) = nullptr;
  std::string_view gradient;  // the VJP in one line of text, or why there is none ("none: ...")
  /// The vector-Jacobian product: given the cotangent of each result (invalid: zero), appends what
  /// computes the cotangent of each operand and returns those, invalid where there is none. The
  /// builder's call is the instruction with operands and results in place, optional ones included.
  /// Null: a composite is expanded and differentiated; any other op has no gradient.
  std::vector<ValueId> (*vjp)(ops::Builder& builder, std::span<const ValueId> cotangents) = nullptr;
  std::string_view example;  // a runnable piece of text
  std::string_view source;   // the paper, spec section or system the rule comes from
  /// Written form, by the small grammar of hostir/text/README.md section "assembly". Empty: the
  /// generic form `%r = op %a, %b {attributes}`.
  std::string_view assembly;
};

/// The record of a kind; the table is built once from ops.def.
const OpRecord& record(OpKind kind);
/// The kind with this mnemonic.
std::optional<OpKind> find_op(std::string_view mnemonic);

/// Operand types of an instruction (slots flattened, `none` skipped).
std::vector<Type> operand_types(const Function& function, const Instruction& instruction);
/// Types that the results have already: written in the text, or NoType.
std::vector<Type> written_types(const Function& function, const Instruction& instruction);
/// The slot (index into the record's operands) of operand `operand`, which may be in a variadic
/// slot.
size_t slot_of(const OpRecord& op, size_t operand);
/// What the op does with operand `operand` while that is partial with `kind`.
PartialUse partial_use(const OpCall& call, size_t operand, Reduction kind);
/// Constraints, then inference: the result types, or every broken constraint as a diagnostic.
/// Generic errors: `op_c1` number of operands, `op_c2` unknown attribute, `op_c3` missing
/// attribute, `op_c4` attribute of another type or keyword, `op_c5` number of results.
Expected<std::vector<Type>> check_and_infer(const Program& program, const Function& function,
                                            const Instruction& instruction);

}  // namespace hostir
