// Emits tile instructions for ops.
#pragma once

#include <map>
#include <optional>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/tile/tile_program.h"

namespace hostir::cpu {

/// Builds one tile program over a fixed box; ops are added one by one.
class TileBuilder {
 public:
  TileBuilder(const BoundKernel& kernel, const TileOps& ops, const Box& box);

  const Box& box() const { return box_; }
  const TileOps& ops() const { return ops_; }
  TileProgram& program() { return program_; }

  /// The register of a value that was computed or loaded before; -1 if there is none.
  int find(uint32_t value) const;
  /// Loads a value through a view of the builder's box.
  int load(uint32_t value, const StridedView& view);
  /// Loads the result of a matrix product, which the runner provides in f32 or f64 (HeadTile), plus
  /// a bias read through a view of the box, rounded once.
  void load_product(uint32_t value, const std::optional<StridedView>& bias);
  /// Defines a value by an op whose operands have registers. False if there are no tile loops for
  /// the op with these dtypes.
  bool emit(const Instruction& instruction);

  // For the emitters.
  int code(TileFn fn, Lane lane, int a, int b = -1, int c = -1, const TileParams& params = {});
  int constant(Lane lane, const TileParams& params);
  /// The value of a register that holds the same constant everywhere; null otherwise.
  const TileParams* constant_of(int reg) const;
  int index(int64_t offset, const Extents& strides);
  int convert(int reg, Lane to, const TileParams& params = {});
  /// Rounds or wraps an op's result in a lane to the dtype.
  int narrowed(int reg, DType dtype);

 private:
  const BoundKernel& kernel_;
  const TileOps& ops_;
  Box box_;
  TileProgram program_;
  std::map<uint32_t, int> registers_;
};

/// True if the fast set has loops for the op; emit() may still reject its dtypes.
bool has_tile_loops(OpKind kind);

}  // namespace hostir::cpu
