// The vector loops of the fast kernel set: one table of functions per instruction set.
//
// A *tile* is a run of at most kTileElems elements of one value in a register of lanes. f32 lanes
// hold f32 and narrower floats; i32 lanes hold i32 and narrower integers; i64 lanes hold i64, u32
// and the bits of u64. A value always has the precision of its dtype (16- and 8-bit floats are
// rounded, narrow integers wrapped after each op), so results do not depend on fusion. The same
// source is compiled three times, with the flags of each instruction set. It must include no
// library header that defines inline functions, because the linker might keep a copy that this CPU
// cannot run.
#pragma once

#include <stdint.h>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/tile/tile_strand.h"

namespace hostir::cpu {

inline constexpr int64_t kTileElems = 2048;

enum class Lane : uint8_t { kF32, kF64, kI32, kI64 };
inline constexpr int kLanes = 4;

/// Constants of an instruction.
struct TileParams {
  double x = 0;
  double y = 0;
  uint64_t seed = 0;
  uint64_t offset = 0;
};

/// dst[i] = op(a[i], b[i], c[i]) for n elements. In float lanes a null b of a binary op (except
/// comparisons) means params.x for every element. dst may be an operand with elements of the same
/// width. Elements have only their natural alignment.
using TileFn = void (*)(void* dst, const void* a, const void* b, const void* c, int64_t n,
                        const TileParams& params);

/// Folds: sum, prod, min, max, in the order of `Reduction` without avg.
enum class Fold : uint8_t { kSum, kProd, kMin, kMax };
inline constexpr int kFolds = 4;
/// *accumulator = fold(*accumulator, x[0..n)) or accumulator[i] = fold(accumulator[i], x[i]).
/// Accumulators are f64 for float lanes and i64 for integer lanes.
using FoldFn = void (*)(void* accumulator, const void* x, int64_t n);

struct TileOps {
#define HOSTIR_TILE_UNARY_ALL(op) TileFn op[kLanes];
#define HOSTIR_TILE_UNARY_REAL(op, f32, f64) TileFn op[kLanes];
#define HOSTIR_TILE_UNARY_LOOPS(op, f32, f64) TileFn op[kLanes];
#define HOSTIR_TILE_BINARY_ALL(op) TileFn op[kLanes];
#define HOSTIR_TILE_BINARY_LOOPS(op, f32, f64) TileFn op[kLanes];
#define HOSTIR_TILE_COMPARE(direction) TileFn direction[kLanes];
#include "kernels/cpu/tile/tile_ops.def"

  TileFn truth[kLanes];     // mask: 1 where nonzero
  TileFn gelu_erf[kLanes];  // float lanes
  TileFn gelu_tanh[kLanes];
  TileFn select[kLanes];           // a: mask, b where 1, c where 0
  TileFn fill[kLanes];             // params.x; i64 lanes: params.offset
  TileFn convert[kLanes][kLanes];  // [from][to]; floats to integers clamp to [params.x, params.y]
  TileFn logical_and;              // masks
  TileFn logical_or;
  TileFn logical_not;
  TileFn narrow[15];   // by DType: rounds or wraps a lane to the dtype; null: the lane is as narrow
  TileFn random_unit;  // a: i64 indices; to f32 in [0, 1), key params.seed, + offset
  TileFn load[15];     // by DType: a is memory, to its lane
  TileFn store[15];    // by DType: a is a lane, dst is memory
  TileFn stream;       // like store of f32, bypassing the caches
  FoldFn fold_run[kFolds][kLanes];   // one accumulator
  FoldFn fold_each[kFolds][kLanes];  // one accumulator per element
  /// c[m][n] = a[m][k] * b[k][n] in f64, all with row strides in elements.
  void (*matmul_f64)(const double* a, int64_t a_row, const double* b, int64_t b_row, double* c,
                     int64_t c_row, int64_t m, int64_t n, int64_t k);
  StrandTable strands;
};

const TileOps& tile_ops(Isa isa);

}  // namespace hostir::cpu
