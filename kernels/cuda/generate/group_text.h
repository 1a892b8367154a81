// Code for a group's registers: loads, ops, folds, stores. emit_*.cpp decide how threads cover the
// space.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/cuda/generate/axes.h"
#include "kernels/cuda/generate/plan.h"

namespace hostir::cuda {

class GroupText {
 public:
  GroupText(const Group& group, Axes axes, int vector);

  const Group& group() const { return group_; }
  const Axes& axes() const { return axes_; }
  int vector() const { return vector_; }
  const std::string& index() const { return index_; }

  /// Stores a register's vector in an array element, `v3[j]`.
  void use_array(int reg) { in_array_[static_cast<size_t>(reg)] = true; }
  bool is_array(int reg) const { return in_array_[static_cast<size_t>(reg)]; }
  std::string type(int reg) const;      // `vec<f32, 8>`
  std::string variable(int reg) const;  // `v3[j]`, `v3`, `r3`

  /// A statement that defines the register at the current place. `count`: code for the number of
  /// valid elements of the vector, or empty.
  std::string define(int reg, const std::string& indent, const std::string& count) const;
  std::string store(size_t store, const std::string& indent, const std::string& count) const;

  /// Folds: `a3` is the accumulator, of a wider type.
  std::string accumulator_type(int reg) const;
  std::string accumulator_identity(int reg) const;
  std::string fold_name(int reg) const;  // `fold_sum`
  std::string accumulate(int reg, const std::string& indent, const std::string& count) const;
  std::string finished(int reg, const std::string& accumulator) const;

  /// The argument of a buffer: `a.p[2]`.
  std::string argument(int buffer) const;
  const std::vector<int>& buffers() const { return buffers_; }
  int add_argument(int buffer);
  /// Changes the order of the arguments.
  void order_arguments(std::vector<int> buffers) { buffers_ = std::move(buffers); }

  double read_bytes() const;
  double write_bytes() const;
  /// `tanh+mul`, abbreviated.
  std::string ops() const;

 private:
  std::string lane(int reg, bool of_row) const;
  std::string whole(int reg, DType dtype, bool of_row) const;
  std::string load(int reg, const std::string& indent, const std::string& count) const;
  std::string position(int reg) const;

  const Group& group_;
  Axes axes_;
  int vector_;
  std::string index_;
  std::vector<bool> in_array_;
  std::vector<int> buffers_;
};

}  // namespace hostir::cuda
