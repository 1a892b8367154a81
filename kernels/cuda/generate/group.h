// Ops that are computed together in one generated function.
//
// A group walks over one box of local elements, its space. Every register is a vector of
// consecutive elements of the space (full level) or, in a group with folds, one element per row
// (row level). A row is what the folded dimensions span. All walks through memory are given over
// the dimensions of the space, with stride 0 where the address does not change.
// Absent: which value goes to which group (planner.cpp), code (emit_*.cpp).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "kernels/cuda/generate/cuda_op.h"

namespace hostir::cuda {

/// Element (i0, i1, ..) is at `offset + sum of i * stride`.
struct Walk {
  int64_t offset = 0;
  Extents strides;
  friend bool operator==(const Walk&, const Walk&) = default;
};

struct Register {
  enum class From : uint8_t { kLoad, kOp, kFold, kIndex, kRandom, kLiteral };
  From from = From::kOp;
  DType dtype = DType::kF32;
  bool is_row = false;
  int buffer = -1;                  // kLoad
  Walk walk;                        // kLoad; kIndex, kRandom: the global index itself
  const Instruction* op = nullptr;  // kOp, kFold, kRandom
  const Placement* out = nullptr;   // kOp, kFold: placement of the result
  DType in = DType::kF32;           // kOp: dtype of the op's first operand
  std::vector<int> operands;        // registers; kFold: one
  std::string text;                 // kLiteral
  int64_t divisor = 1;              // kFold of a mean: global elements per result
  std::string name;                 // name of the value, for comments
};

struct Store {
  int reg = -1;
  int buffer = -1;
  Walk walk;
};

class Group {
 public:
  explicit Group(const Placement& space);

  const Placement& space() const { return space_; }
  const Extents& extents() const { return extents_; }
  const std::vector<Register>& registers() const { return registers_; }
  const std::vector<Store>& stores() const { return stores_; }

  bool has_folds() const { return !folded_.empty(); }
  const std::vector<bool>& folded() const { return folded_; }
  /// Folds go through memory in two stages; their results are not in registers.
  bool is_split() const { return split_; }
  void set_folds(std::vector<bool> folded, bool split);
  int64_t rows() const;
  int64_t columns() const;

  /// Dense over the space; and dense with one element per row.
  const Walk& full_walk() const { return full_walk_; }
  Walk row_walk() const;
  /// Converts a walk over the extents of a row-level box to one over the space; nullopt if the box
  /// is not a box of rows.
  std::optional<Walk> lift(const Extents& row_extents, const Walk& walk) const;
  /// Sets strides of extents of one to 0, so that equal walks compare equal.
  Walk normalised(Walk walk) const;

  /// The register that holds a value, or -1.
  int find(uint32_t value) const;
  int load(int buffer, DType dtype, const Walk& walk, bool is_row);
  int literal(DType dtype, std::string text);
  /// Defines a value.
  int define(uint32_t value, Register reg);
  void store(int reg, int buffer, const Walk& walk);
  Register& at(int reg) { return registers_[static_cast<size_t>(reg)]; }
  const Register& at(int reg) const { return registers_[static_cast<size_t>(reg)]; }

  std::vector<const Instruction*> members;
  bool is_open = true;
  double flops = 0;

 private:
  Placement space_;
  Extents extents_;
  std::vector<bool> folded_;
  bool split_ = false;
  Walk full_walk_;
  std::vector<Register> registers_;
  std::vector<Store> stores_;
  std::map<uint32_t, int> by_value_;
  std::map<std::tuple<int, bool, int64_t, Extents>, int> loads_;  // buffer, row, walk
};

}  // namespace hostir::cuda
