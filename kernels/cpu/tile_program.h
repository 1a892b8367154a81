// A fused group as data: loads, straight-line code on tiles, stores and folds.
//
// The group's iteration space is one box of local elements, row-major. A program says how each
// operand's memory is reached from it (strides), what is computed on tiles of at most kTileElems
// elements, and where results go. Registers are virtual, one definition each; slots are shared by
// liveness. Absent: which elements run on which thread (tile_step.cpp, contraction_step.cpp).
#pragma once

#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/index_expr.h"
#include "kernels/cpu/tile_ops.h"

namespace hostir::cpu {

constexpr Lane lane_of(DType dtype) {
  if (dtype == DType::kF64) return Lane::kF64;
  if (is_float(dtype)) return Lane::kF32;
  return dtype == DType::kI64 ? Lane::kI64 : Lane::kI32;
}
constexpr bool is_wide(Lane lane) { return lane == Lane::kF64 || lane == Lane::kI64; }
/// The dtype's memory is its lane's: tiles may be read and written in place.
constexpr bool is_native(DType dtype) { return !is_16_bit_float(dtype) && size_bytes(dtype) >= 4; }

/// Element (i0, i1, ..) of a space is at `offset + sum of i * stride`, in elements, of a value.
struct StridedView {
  uint32_t value = 0;
  int64_t offset = 0;
  Extents strides;
};

struct TileInstr {
  TileFn fn = nullptr;
  int dst = -1;
  int a = -1;
  int b = -1;
  int c = -1;
  TileParams params;
};

/// What a tile gets from outside. An index load yields the view's position itself, in i64 lanes:
/// global indices for iota and random numbers.
struct TileLoad {
  enum class Kind : uint8_t { kMemory, kIndex };
  Kind kind = Kind::kMemory;
  int reg = -1;
  DType dtype = DType::kF32;
  StridedView view;
};

struct TileStore {
  int reg = -1;
  DType dtype = DType::kF32;
  StridedView view;
  bool is_computed = false;  // set by assign_slots(): the code may write straight to memory
};

/// A reduction over the space: accumulator position by strides, 0 along folded dimensions.
struct TileFold {
  int reg = -1;
  Lane lane = Lane::kF32;
  Fold fold = Fold::kSum;
  DType dtype = DType::kF32;
  StridedView view;
  int64_t elems = 0;    // accumulators
  int64_t divisor = 1;  // of the mean: global elements folded into one; 1 divides nothing
  bool is_mean = false;
};

struct TileProgram {
  Extents extents;
  std::vector<TileLoad> loads;
  std::vector<TileInstr> constants;  // run once
  std::vector<TileInstr> code;
  std::vector<TileStore> stores;
  std::vector<TileFold> folds;
  std::vector<Lane> lanes;  // by register
  std::vector<int> slots;   // by register, after assign_slots(); -1 never written
  int slot_count = 0;

  int add_register(Lane lane) {
    lanes.push_back(lane);
    return static_cast<int>(lanes.size()) - 1;
  }
  /// Gives every register a slot of kTileElems * 8 bytes; constants, loads and results keep theirs.
  void assign_slots();
  /// Bytes of scratch that one runner needs.
  int64_t scratch_bytes() const;
};

}  // namespace hostir::cpu
