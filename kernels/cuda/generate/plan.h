// A kernel as steps on buffers: the launches, their memory, and their order.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/index_expr.h"

namespace hostir::cuda {

/// Memory used by steps.
struct Buffer {
  enum class Kind : uint8_t { kParameter, kResult, kTemporary, kConstant } kind = Kind::kTemporary;
  size_t index = 0;  // of the parameter, result or constant
  int64_t bytes = 0;
  int64_t workspace_offset = 0;  // kTemporary
};

/// How a step accesses a buffer. Two accesses with equal `walk` touch the same element in the same
/// thread, reads before writes; an empty walk equals no other.
struct BufferUse {
  int buffer = -1;
  bool is_write = false;
  std::string walk;
};

/// A generated function with entries `name` and `name_u`, the latter for operands that are not
/// aligned to 16 bytes.
struct GeneratedStep {
  std::string name;
  std::string text;     // code without the prelude
  std::string summary;  // "row 4096 cols, 128 threads"
  unsigned grid = 1;
  unsigned block = 256;
  std::vector<int> buffers;  // arguments in order
  std::vector<BufferUse> uses;
  double read_bytes = 0;
  double write_bytes = 0;
  double flops = 0;
};

/// Element (batch.., row, column) of an operand, in elements.
struct Matrix {
  int buffer = -1;
  int64_t offset = 0;
  Extents batch_strides;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

/// d[m, n] = activation(a[m, k] b[k, n] + c[m, n] + bias[n]), for every batch element.
struct ProductStep {
  enum class Activation : uint8_t { kNone, kRelu, kGelu };
  DType dtype = DType::kF32;
  Extents batch;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Matrix a;
  Matrix b;
  Matrix c;  // buffer -1: none
  Matrix d;
  int bias = -1;
  int64_t bias_offset = 0;
  Activation activation = Activation::kNone;
  GeneratedStep plain;  // plain loops, for what cuBLASLt does not support
};

/// Element (batch, head, row, column) of an operand of attention, in elements. The last stride
/// is 1.
struct Heads {
  int buffer = -1;
  int64_t offset = 0;
  std::array<int64_t, 4> extents = {};
  std::array<int64_t, 4> strides = {};
};

/// o = softmax(q k^T * scale) v. Several heads of q may share one of k and v. With `is_causal`,
/// query i sees the keys up to i + diagonal.
struct AttentionStep {
  DType dtype = DType::kBF16;
  Heads q;  // [batch, heads, queries, size]
  Heads k;  // [batch, shared heads, keys, size]
  Heads v;  // [batch, shared heads, keys, value size]
  Heads o;  // [batch, heads, queries, value size]
  double scale = 1;
  bool is_causal = false;
  int64_t diagonal = 0;
  GeneratedStep shown;  // what the log shows of it; without text
};

using Step = std::variant<GeneratedStep, ProductStep, AttentionStep>;

/// The name, summary, bytes and flops of a step, and the code that runs without a library, which
/// attention lacks.
const GeneratedStep& generated_part(const Step& step);

struct Plan {
  std::vector<Buffer> buffers;
  std::vector<Step> steps;
  std::vector<std::vector<std::byte>> constants;  // contents of kConstant buffers
  size_t parameter_count = 0;
  size_t result_count = 0;
  int64_t workspace_bytes = 0;  // of temporaries

  int add_buffer(Buffer buffer) {
    buffers.push_back(buffer);
    return static_cast<int>(buffers.size()) - 1;
  }
};

/// Places temporaries; those with disjoint lifetimes share memory.
void place_temporaries(Plan& plan);

/// [parameter][result]: true if a launch may pass the same range for both. False if the result is
/// written before the last read of the parameter.
std::vector<std::vector<bool>> in_place_pairs(const Plan& plan);

}  // namespace hostir::cuda
