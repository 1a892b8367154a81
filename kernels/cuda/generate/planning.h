// Internals of the planner, for the files that implement it.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "kernels/cuda/generate/attention.h"
#include "kernels/cuda/generate/group.h"
#include "kernels/cuda/generate/planner.h"
#include "kernels/cuda/generate/values.h"

namespace hostir::cuda {

class Planner {
 public:
  Planner(const kernels::BoundKernel& kernel, std::vector<const Instruction*> body,
          const CompilerOptions& options);
  Expected<Plan> run();

 private:
  // planner.cpp
  Expected<void> add(const Instruction& instruction);
  const Placement& placement(uint32_t value) const { return kernel_.values[value]; }
  const Placement& placement(ValueId value) const { return kernel_.values[value.index]; }
  tl::unexpected<Error> unsupported(const Instruction& instruction, const std::string& why) const;
  int buffer_for(uint32_t value);
  int temporary(int64_t bytes);
  void set_literal(uint32_t value, std::string text);
  void set_memory(uint32_t value, int buffer);
  double flops_of(const Instruction& instruction) const;
  std::string name_of(uint32_t value) const;
  Expected<void> finish();

  // plan_views.cpp: how values are accessed
  kernels::StridedView view_of(uint32_t value) const;
  uint32_t root_of(uint32_t value) const { return view_of(value).value; }
  /// Over the dimensions of a box; nullopt if the value does not hold all of it.
  std::optional<Walk> walk_over(uint32_t value, const Box& box) const;
  int group_holding(uint32_t value) const;
  /// Stores a value in memory, row-major over its box. Returns its buffer.
  int materialise(uint32_t value);
  /// The buffer behind a value that is a view.
  int root_buffer(uint32_t value);

  // plan_groups.cpp
  void close(int group);
  bool is_needed_outside(uint32_t value, const Group& group) const;
  int group_for(const Placement& space);
  Expected<void> add_pointwise(const Instruction& instruction);
  bool join_rows(const Instruction& instruction);
  bool fits_rows(const Instruction& instruction, int group) const;
  bool is_usable(uint32_t operand, const Group& group, const Walk& walk) const;
  int settle(const Instruction& instruction);
  // plan_inline.cpp: small broadcast chains (a cast weight) are computed by their readers
  bool can_inline(uint32_t operand, const Box& box) const;
  int inlined(Group& group, const Group& from, int reg, const Walk& walk);
  int operand_register(Group& group, uint32_t operand, const Walk& walk, bool is_row);
  void define(Group& group, const Instruction& instruction, bool is_row);
  Walk lifted(const Group& group, const Extents& extents, const Walk& walk, bool is_row) const;

  // plan_folds.cpp
  Expected<void> add_fold(const Instruction& instruction);

  // plan_moves.cpp
  Expected<void> add_constant(const Instruction& instruction);
  Expected<void> add_move(const Instruction& instruction);
  Expected<void> add_concat(const Instruction& instruction);
  /// Writes to a buffer that was filled before, or to a new one (-1).
  Expected<void> add_relayout(const Instruction& instruction, int to);
  Expected<void> gather_reshape(const Instruction& instruction);
  /// One part of a copying launch: from a register or memory to a walk of a buffer.
  Group copy_part(const Extents& extents, DType dtype, int from, const Walk& read, int to,
                  const Walk& write) const;
  Group fill_part(uint32_t value, const std::string& text, int to) const;

  // plan_indexed.cpp
  Expected<void> add_indexed(const Instruction& instruction);

  // plan_dots.cpp
  Expected<void> add_dot(const Instruction& instruction);
  int copied_in_order(uint32_t value, const Walk& walk, const Extents& extents,
                      const std::vector<IntList>& dims, Extents& strides);
  Matrix dot_operand(uint32_t value, const Box& box, const std::vector<IntList>& dims);

  // plan_products.cpp
  Expected<void> add_product(const Instruction& instruction);
  Expected<Matrix> matrix_of(const Instruction& product, size_t operand, const Box& box,
                             size_t row_dim, size_t column_dim);
  uint32_t absorb_epilogues(const Instruction& product, ProductStep& step);
  bool absorb(const Instruction& next, uint32_t value, ProductStep& step);
  bool absorb_sum(const Instruction& next, uint32_t value, ProductStep& step);

  // plan_attention.cpp
  void find_attention();
  void add_attention(const Attention& attention);
  Heads heads_of(uint32_t value, const AttentionDims& dims);

  const kernels::BoundKernel& kernel_;
  std::vector<const Instruction*> body_;
  CompilerOptions options_;
  Readers readers_;
  std::vector<ValueState> states_;  // by value
  std::vector<std::unique_ptr<Group>> groups_;
  std::vector<std::vector<uint32_t>> defined_;  // by group
  // (reader, group with its values)
  std::set<std::pair<const Instruction*, const Group*>> inlined_;
  // fused into a product's epilogue, or part of an attention
  std::set<const Instruction*> absorbed_;
  std::map<const Instruction*, Attention> attentions_;  // by its last op
  std::vector<int> result_buffers_;
  Plan plan_;
};

}  // namespace hostir::cuda
