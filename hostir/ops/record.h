// The record of an op: everything that parser, printer, verifier, compiler, documentation and tests
// know about it.
//
// One function `op_<mnemonic>()` per op, in a file of its own, returns the record written with
// designated initialisers. No other file mentions the op by kind (no `case OpKind::`). Inference,
// constraints and sharding rules are plain functions of an `OpCall`.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

/// What an op is applied to. Operands in the order of the slots; variadic slots are flattened.
struct OpCall {
  OpKind kind;
  std::span<const Type> operands;  // kernels and fusions: TensorType
  const Attributes& attributes;
  const Instruction* instruction = nullptr;  // where slots and access matter (host ops)
  const Function* function = nullptr;        // host ops
  const Program* program = nullptr;          // symbols: meshes, kernels, called functions
};

/// A broken constraint: what to say and which operand to point at (-1: the mnemonic).
struct Violation {
  std::string message;
  int operand = -1;
};

struct OperandSpec {
  enum class Arity : uint8_t { kOne, kOptional, kVariadic };
  std::string_view name;
  std::string_view doc;
  Arity arity = Arity::kOne;
  Access access = Access::kUse;  // for host ops: what the slot's `ro(..)`, `wo(..)`, `rw(..)` is
  /// Compute ops: the op is linear in this operand alone (others fixed), so it may be partial
  /// (sum).
  bool linear = false;
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
  std::optional<Attribute> fallback;       // printed only where it differs from this
  std::vector<std::string_view> keywords;  // of kKeyword
};

struct ResultSpec {
  std::string_view name;
  std::string_view doc;
};

struct Constraint {
  std::string_view id;    // "matmul_c1"; also the name of tests/scripts/negative/<id>.hir
  std::string_view text;  // what must hold, one sentence
  std::optional<Violation> (*check)(const OpCall&) =
      nullptr;  // nullptr: checked by infer or verifier
};

/// A sharding rule in factor form: `([i,k],[k,j])->([i,j])`. Each dimension of each tensor is a
/// list of factors, major to minor (compound for reshape). A sharded factor in `reduction` leaves
/// the results partial; one in `replicated` may not be sharded.
struct ShardingRule {
  using DimFactors = std::vector<int>;
  std::vector<std::vector<DimFactors>> operands;
  std::vector<std::vector<DimFactors>> results;
  std::vector<IndexExpr> factor_sizes;
  std::vector<int> reduction;
  std::vector<int> replicated;
  Reduction reduction_kind = Reduction::kSum;

  int factor_count() const { return static_cast<int>(factor_sizes.size()); }
  /// `([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}`
  std::string to_string() const;
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
  kLayout,       // reshard, pack, unpack
  kHost,         // communication and host ops
};

struct OpRecord {
  std::string_view mnemonic;
  OpClass op_class = OpClass::kCompute;
  OpShape shape = OpShape::kPointwise;
  std::string_view summary;      // one sentence
  std::string_view description;  // Shapes; Sharding; Dtypes; Errors; Cost; Source, as STYLE says
  std::vector<OperandSpec> operands;
  std::vector<AttributeSpec> attributes;
  std::vector<ResultSpec> results;
  std::vector<Constraint> constraints;
  /// Result types from operand types; runs after all constraints held. Global shapes. Shardings of
  /// operands are ignored. Host ops whose results are events leave it null.
  Expected<std::vector<Type>> (*infer)(const OpCall&) = nullptr;
  /// Compute ops only.
  Expected<ShardingRule> (*rule)(const OpCall&, std::span<const Type> results) = nullptr;
  Cost (*cost)(const OpCall&, std::span<const Extents> operands,
               std::span<const Extents> results) = nullptr;
  std::string_view gradient;  // the VJP in one line of text, or why there is none
  std::string_view example;   // a runnable piece of text
  std::string_view source;    // the paper, spec section or system the rule comes from
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
/// Constraints, then inference: the result types, or every broken constraint as a diagnostic.
Expected<std::vector<Type>> check_and_infer(const Program& program, const Function& function,
                                            const Instruction& instruction);

}  // namespace hostir
