// From ops to tile instructions.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/tile_program.h"

namespace hostir::cpu {

/// Builds one tile program: the box is fixed, ops are added one by one.
class TileBuilder {
 public:
  TileBuilder(const BoundKernel& kernel, const TileOps& ops, const Box& box);

  const Box& box() const { return box_; }
  const BoundKernel& kernel() const { return kernel_; }
  const TileOps& ops() const { return ops_; }
  TileProgram& program() { return program_; }

  /// The register of a value computed or loaded before; -1 if there is none.
  int find(uint32_t value) const;
  /// Loads a value through a view of the builder's box.
  int load(uint32_t value, const StridedView& view);
  /// The result of a matrix product, which the runner finds in f32 or f64 (HeadTile), plus a bias
  /// seen through a view of the box, rounded once.
  void load_product(uint32_t value, const std::optional<StridedView>& bias);
  /// Defines a value by an op on values that have registers. False if there are no tile loops for
  /// the op on these dtypes.
  bool emit(const Instruction& instruction);

  // For the emitters.
  int code(TileFn fn, Lane lane, int a, int b = -1, int c = -1, const TileParams& params = {});
  int constant(Lane lane, const TileParams& params);
  /// The number that a register holds everywhere, if it is a constant's.
  const TileParams* constant_of(int reg) const;
  int index(int64_t offset, const Extents& strides);
  int convert(int reg, Lane to, const TileParams& params = {});
  /// Rounds or wraps what an op has left in a lane to the dtype.
  int narrowed(int reg, DType dtype);

 private:
  const BoundKernel& kernel_;
  const TileOps& ops_;
  Box box_;
  TileProgram program_;
  std::map<uint32_t, int> registers_;
};

/// True if the fast set has loops for the op; its dtypes may still be refused by emit().
bool has_tile_loops(OpKind kind);

}  // namespace hostir::cpu
