// A fused group as data: loads, straight-line code on tiles, stores and folds.
//
// The group's iteration space is one box of local elements, row-major. A program defines how each
// operand's memory is accessed from it (strides), what is computed on tiles of at most kTileElems
// elements, and where results go. Registers are virtual, with one definition each; slots are shared
// by liveness. Absent: which elements run on which thread (tile_step.cpp, contraction_step.cpp).
#pragma once

#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/index_expr.h"
#include "kernels/common/views.h"
#include "kernels/cpu/tile/tile_ops.h"

namespace hostir::cpu {

constexpr Lane lane_of(DType dtype) {
  if (dtype == DType::kF64) return Lane::kF64;
  if (is_float(dtype)) return Lane::kF32;
  const bool fits = size_bytes(dtype) < 4 || dtype == DType::kI32;
  return fits ? Lane::kI32 : Lane::kI64;
}
constexpr bool is_wide(Lane lane) { return lane == Lane::kF64 || lane == Lane::kI64; }
/// True if the dtype's memory format is that of its lane: tiles may be accessed in place.
constexpr bool is_native(DType dtype) {
  return size_bytes(dtype) == (is_wide(lane_of(dtype)) ? 8 : 4);
}

using kernels::StridedView;

struct TileInstr {
  TileFn fn = nullptr;
  int dst = -1;
  int a = -1;
  int b = -1;
  int c = -1;
  TileParams params = {};
  int strand = -1;  // index in the program: runs instead of fn, f32 lanes only
};

/// One step of a strand in terms of registers; created by strand_join.cpp.
struct TileStrandStep {
  enum class Kind : uint8_t { kGet, kPut, kUnary, kBinary };
  Kind kind = Kind::kGet;
  int op = 0;                                // StrandUnary or StrandBinary
  StrandSource source = StrandSource::kF32;  // kBinary: kF32 for any register
  bool is_reversed = false;                  // kBinary: the block is the right operand
  int reg = -1;                              // register read or written; -1: none
  float number = 0;
};
struct TileStrand {
  std::vector<TileStrandStep> steps;  // the last one writes the instruction's dst
};

/// An input of a tile. An index load yields the view's position itself, in i64 lanes: global
/// indices for iota and random numbers.
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
  bool is_computed = false;   // set by assign_slots(): the code may write directly to memory
  bool is_last_word = false;  // set by assign_slots(): computed by a strand and not read again
};

/// A reduction over the space: strides give the accumulator position, 0 along reduced dimensions.
struct TileFold {
  int reg = -1;
  Lane lane = Lane::kF32;
  Fold fold = Fold::kSum;
  DType dtype = DType::kF32;
  StridedView view;
  int64_t elems = 0;    // accumulators
  int64_t divisor = 1;  // for a mean: global elements per result, else 1
  bool is_mean = false;
};

struct TileProgram {
  Extents extents;
  std::vector<TileLoad> loads;
  std::vector<TileInstr> constants;  // run once
  std::vector<TileInstr> code;
  std::vector<TileStrand> strands;  // referenced by the code
  std::vector<TileStore> stores;
  std::vector<TileFold> folds;
  std::vector<Lane> lanes;       // by register
  std::vector<bool> may_be_raw;  // by register, or empty: strands may access its bf16 memory
  std::vector<int> slots;        // by register, after assign_slots(); -1: never written
  int slot_count = 0;

  int add_register(Lane lane) {
    lanes.push_back(lane);
    return static_cast<int>(lanes.size()) - 1;
  }
  /// Calls f(register) for every operand of an instruction, once per use.
  template <class F>
  void for_each_read(const TileInstr& instr, F f) const {
    for (const int reg : {instr.a, instr.b, instr.c}) {
      if (reg >= 0) f(reg);
    }
    if (instr.strand < 0) return;
    for (const TileStrandStep& step : strands[static_cast<size_t>(instr.strand)].steps) {
      if (step.kind != TileStrandStep::Kind::kPut && step.reg >= 0) f(step.reg);
    }
  }
  /// Calls f(register) for every result of an instruction, the main result last.
  template <class F>
  void for_each_result(const TileInstr& instr, F f) const {
    if (instr.strand < 0) return f(instr.dst);
    for (const TileStrandStep& step : strands[static_cast<size_t>(instr.strand)].steps) {
      if (step.kind == TileStrandStep::Kind::kPut) f(step.reg);
    }
  }
  /// Assigns every register a slot of kTileElems * 8 bytes; constants, loads and results keep
  /// theirs.
  void assign_slots();
  /// Bytes of scratch per runner.
  int64_t scratch_bytes() const;
};

}  // namespace hostir::cpu
