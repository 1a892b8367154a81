// Finds attention among the ops of a kernel.
//
// softmax(q k^T * scale) v is one call of a library that never stores the scores, if the kernel has
// all of its ops: the expansion of `scaled_dot_product_attention`, or the same written by hand.
//
//   1. Start from a product whose left operand is a softmax: exp(x - max x) / sum(exp(x - max x)),
//      in f32, rounded to 16 bits.
//   2. x is a product in 16 bits, widened and multiplied by a number. A causal mask may follow: a
//      select by the comparison of two iotas.
//   3. Nothing else reads the values in between, and this rank holds what both products read.
#pragma once

#include <map>
#include <optional>

#include "kernels/cuda/generate/values.h"

namespace hostir::cuda {

/// The dimensions of an operand by role, and the part of it that is read.
struct AttentionDims {
  Box part;
  IntList batch;
  IntList heads;
  int64_t rows = 0;
  int64_t columns = 0;
};

struct Attention {
  const Instruction* last = nullptr;       // the product with v
  std::vector<const Instruction*> inside;  // the other ops
  uint32_t q = 0;
  uint32_t k = 0;
  uint32_t v = 0;
  AttentionDims q_dims;
  AttentionDims k_dims;
  AttentionDims v_dims;
  AttentionDims o_dims;
  double scale = 1;
  bool is_causal = false;
  int64_t diagonal = 0;  // query i sees the keys up to i + diagonal
};

class AttentionFinder {
 public:
  AttentionFinder(const kernels::BoundKernel& kernel, const std::vector<const Instruction*>& body,
                  const Readers& readers);

  /// The attention that ends with `last`, if there is one.
  std::optional<Attention> ending_with(const Instruction& last) const;

 private:
  const Instruction* maker(ValueId value, OpKind kind) const;
  std::optional<double> number(ValueId value) const;
  bool is_index(ValueId value, size_t dim) const;
  const Instruction* fold(const Instruction& user, size_t operand, OpKind kind) const;
  const Instruction* masked(const Instruction* scores, Attention& out) const;
  bool assign_dims(const Instruction& scores, const Instruction& last, Attention& out) const;
  bool is_only_read_inside(const Attention& found) const;
  void add_sources(ValueId value, Attention& found) const;
  const Placement& placement(ValueId value) const { return kernel_.values[value.index]; }

  const kernels::BoundKernel& kernel_;
  const Readers& readers_;
  std::map<uint32_t, const Instruction*> makers_;  // by value
};

}  // namespace hostir::cuda
