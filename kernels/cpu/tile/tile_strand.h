// Chains of cheap ops that run from memory to memory in registers: the loops of strands.
//
// An instruction of a tile program is a pass over a tile: it costs a load and a store per element
// even if the arithmetic costs almost nothing. A *strand* is a chain of such instructions, each
// using the previous result, that runs block by block: the block stays in vector registers from the
// first load to the last store. Only for f32 lanes (f32 and bf16). One table per instruction set,
// as in TileOps; likewise, no library header may be included.
#pragma once

#include <stdint.h>

namespace hostir::cpu {

enum class StrandUnary : uint8_t { kNeg, kAbs, kRelu, kRoundBf16 };
inline constexpr int kStrandUnaries = 4;
enum class StrandBinary : uint8_t { kAdd, kSub, kMul, kDiv, kMaximum, kMinimum };
inline constexpr int kStrandBinaries = 6;
/// The dtype of a step's memory. bf16 is widened when read and rounded when written.
enum class StrandMemory : uint8_t { kF32, kBF16 };
/// The source of the other operand; kSelf: the block itself.
enum class StrandSource : uint8_t { kF32, kBF16, kNumber, kSelf };
inline constexpr int kStrandSources = 4;

/// A function of the table; only the table's own file uses its real type.
using StrandFn = void (*)();

struct StrandStep {
  StrandFn fn = nullptr;
  void* memory = nullptr;  // element 0 of the tile; null: the step uses no memory
  float number = 0;
  uint8_t elem_bytes = 0;
  bool writes = false;
};
inline constexpr int kMostStrandSteps = 24;

struct StrandTable {
  StrandFn get[2];  // by StrandMemory
  StrandFn put[2];
  StrandFn stream[2];  // bypass the caches; memory aligned to 64 bytes
  StrandFn end;        // the last step of every strand
  StrandFn binary[kStrandBinaries][2][kStrandSources];  // [1]: the block is the right operand
  StrandFn unary[kStrandUnaries];
  /// Runs `count` steps, at most kMostStrandSteps, over n elements. The memory ranges of two steps
  /// must be identical or disjoint.
  void (*run)(const StrandStep* steps, int count, int64_t n);
};

}  // namespace hostir::cpu
