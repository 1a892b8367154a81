// How generated CUDA computes an op: one record per compute op of ops.def, each in its own file
// (`ops/<mnemonic>.cpp`); a missing one is a link error that names it.
//
// The generator queries forms, never op kinds. Code refers to functions of the prelude.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/common/bound_kernel.h"

namespace hostir::cuda {

/// One lane of a vector of elements that is computed.
struct LaneCall {
  const Instruction& instruction;
  const Placement& out;
  DType in = DType::kF32;          // of the first operand, or of the result if there is none
  std::vector<std::string> lanes;  // the operands' code, then that of `CudaOp::extra`
};

class IndexedCall;
struct IndexedKernel;

struct CudaOp {
  enum class Form : uint8_t {
    kPointwise,  // `lane` gives the code of one element
    kConstant,   // a literal
    kMove,       // reorders or reshapes elements: index arithmetic
    kConcat,
    kRelayout,  // to and from block order
    kReduction,
    kProduct,  // cuBLASLt
    kIndexed,  // finds elements by position or content: `indexed` makes a separate launch
    kNone,     // no kernel: `missing` gives the reason
  };
  Form form = Form::kPointwise;
  /// Code in the type that the result is computed in: double, float, or an integer of
  /// the prelude's `<dtype>::reg`.
  std::string (*lane)(const LaneCall&) = nullptr;
  /// The prelude's function for whole vectors of 16-bit floats, if it gives the same bits.
  std::string_view pairs = {};
  /// What a lane needs in addition to its operands: its global index in the dimension `dim`, or its
  /// random number in [0, 1).
  enum class Extra : uint8_t { kNone, kIndex, kRandom } extra = Extra::kNone;
  bool is_cheap = false;          // a few instructions: recomputed rather than kept or stored
  bool right_rows_are_k = false;  // kProduct: the right operand is [.., k, n], else [n, k]
  bool has_any_dims = false;      // kProduct: attributes assign the dimensions
  IndexedKernel (*indexed)(const IndexedCall&) = nullptr;
  /// How cuBLASLt can fuse the op after a product.
  enum class Epilogue : uint8_t { kNone, kRelu, kGelu, kAdd };
  Epilogue (*epilogue)(const Instruction&) = nullptr;
  std::string_view missing = {};  // kNone: the reason
};

const CudaOp& cuda_op(OpKind kind);
/// How a kReduction combines elements: that of its record, kSum for a mean.
Reduction fold_of(OpKind kind);
bool is_mean(OpKind kind);

/// `fn(lane, lane, ...)` over all operands.
std::string lane_call(std::string_view fn, const LaneCall& call);
/// The same, with the function for 16-bit results, `<fn>16`, if the result is one.
std::string lane_call16(std::string_view fn, const LaneCall& call);
/// A literal of the type that the dtype is computed in.
std::string literal(DType dtype, double real);
std::string literal(DType dtype, int64_t integer);

}  // namespace hostir::cuda
