#include "kernels/cpu/tile/tile_step.h"

#include <algorithm>
#include <cstring>

#include "kernels/cpu/reference/reference_reduce.h"
#include "kernels/cpu/thread_pool.h"

namespace hostir::cpu {
namespace {

constexpr int64_t kPieceElems = 64 * 1024;
/// Without reductions, whose bits depend on the pieces, a small space is cut finer.
constexpr int64_t kLeastPieceElems = 16 * 1024;
constexpr int64_t kWantedTilePieces = 4;
constexpr int64_t kStreamingBytes = int64_t{16} << 20;
/// If the outermost dimension is reduced, the space has this many pieces, each with its own
/// accumulators.
constexpr int64_t kFoldPieces = 8;
constexpr int64_t kAccumulatorBytes = 8;

int64_t elems_of(const Extents& extents) {
  int64_t elems = 1;
  for (const int64_t extent : extents) elems *= extent;
  return elems;
}

StoreMode store_mode(const TileProgram& program) {
  int64_t bytes = 0;
  for (const TileStore& store : program.stores) {
    bytes += elems_of(program.extents) * size_bytes(store.dtype);
  }
  return bytes >= kStreamingBytes ? StoreMode::kStreaming : StoreMode::kCached;
}

Reduction reduction_of(Fold fold) {
  constexpr Reduction kKinds[] = {Reduction::kSum, Reduction::kProd, Reduction::kMin,
                                  Reduction::kMax};
  return kKinds[static_cast<size_t>(fold)];
}

void fill_identity(const TileFold& fold, std::byte* accumulators) {
  const double real = real_identity(reduction_of(fold.fold), fold.dtype);
  const int64_t integer = int_identity(reduction_of(fold.fold), fold.dtype);
  for (int64_t i = 0; i < fold.elems; ++i) {
    std::byte* to = accumulators + i * kAccumulatorBytes;
    if (is_float(fold.dtype)) {
      std::memcpy(to, &real, sizeof real);
    } else {
      std::memcpy(to, &integer, sizeof integer);
    }
  }
}

/// Converts accumulators to the fold's value: the mean's division, then one rounding.
void write_result(const TileFold& fold, std::byte* accumulators, Memory memory) {
  if (is_float(fold.dtype)) {
    auto* sums = reinterpret_cast<double*>(accumulators);
    if (fold.is_mean) {
      for (int64_t i = 0; i < fold.elems; ++i) sums[i] /= static_cast<double>(fold.divisor);
    }
    store_reals(fold.dtype, memory.data, 0, fold.elems, sums);
  } else {
    store_ints(fold.dtype, memory.data, 0, fold.elems,
               reinterpret_cast<const int64_t*>(accumulators));
  }
}

/// How the space of a program with folds is cut along its first dimension of more than one element.
struct FoldCut {
  size_t dim = 0;
  int64_t pieces = 1;
  bool shares_accumulators = true;  // folds keep `dim`; pieces write apart
};

FoldCut fold_cut(const TileProgram& program) {
  FoldCut cut;
  while (cut.dim + 1 < program.extents.size() && program.extents[cut.dim] == 1) ++cut.dim;
  if (program.extents.empty()) return cut;
  const int64_t extent = program.extents[cut.dim];
  int64_t accumulators = 0;
  for (const TileFold& fold : program.folds) {
    accumulators += fold.elems;
    cut.shares_accumulators &= extent == 1 || fold.view.strides[cut.dim] != 0;
  }
  const int64_t elems = elems_of(program.extents);
  int64_t wanted = (elems + kPieceElems - 1) / kPieceElems;
  if (!cut.shares_accumulators) {
    // Clearing and joining private accumulators must stay cheap compared to the folds.
    wanted = std::min({wanted, kFoldPieces, elems / std::max<int64_t>(4 * accumulators, 1)});
  }
  cut.pieces = std::clamp<int64_t>(wanted, 1, std::max<int64_t>(extent, 1));
  return cut;
}

/// Runs a program with folds; the accumulators of all folds are contiguous, one set in total or one
/// per piece.
class FoldRun {
 public:
  FoldRun(const TileProgram& program, const TileOps& ops, std::span<const Memory> values,
          ScratchPool& scratch)
      : program_(program), ops_(ops), values_(values), scratch_(scratch), cut_(fold_cut(program)) {
    for (const TileFold& fold : program.folds) elems_ += fold.elems;
  }

  void run() {
    const int64_t sets = cut_.shares_accumulators ? 1 : cut_.pieces;
    const ScratchPool::Lease lease(scratch_, sets * elems_ * kAccumulatorBytes);
    for (int64_t set = 0; set < sets; ++set) {
      for_each_fold(lease.data(), set,
                    [](const TileFold& fold, std::byte* at) { fill_identity(fold, at); });
    }
    parallel_for(cut_.pieces, [&](int64_t piece) {
      run_piece(piece, lease.data(), cut_.shares_accumulators ? 0 : piece);
    });
    for (int64_t set = 1; set < sets; ++set) join(lease.data(), set);
    for_each_fold(lease.data(), 0, [&](const TileFold& fold, std::byte* at) {
      write_result(fold, at, values_[fold.view.value]);
    });
  }

 private:
  template <class F>
  void for_each_fold(std::byte* base, int64_t set, F f) const {
    std::byte* at = base + set * elems_ * kAccumulatorBytes;
    for (const TileFold& fold : program_.folds) {
      f(fold, at);
      at += fold.elems * kAccumulatorBytes;
    }
  }

  void run_piece(int64_t piece, std::byte* base, int64_t set) const {
    std::vector<void*> accumulators;
    for_each_fold(base, set, [&](const TileFold&, std::byte* at) { accumulators.push_back(at); });
    Extents lo(program_.extents.size(), 0);
    Extents hi = program_.extents;
    if (!hi.empty()) {
      const int64_t extent = hi[cut_.dim];
      lo[cut_.dim] = extent * piece / cut_.pieces;
      hi[cut_.dim] = extent * (piece + 1) / cut_.pieces;
    }
    const ScratchPool::Lease lease(scratch_, program_.scratch_bytes());
    TileRunner runner(program_, ops_, values_, accumulators, lease.data(), lo, hi, {},
                      store_mode(program_));
    runner.run(0, runner.elems());
  }

  /// Folds a later set into the first, in the order of the pieces.
  void join(std::byte* base, int64_t set) const {
    const std::byte* from = base + set * elems_ * kAccumulatorBytes;
    for_each_fold(base, 0, [&](const TileFold& fold, std::byte* at) {
      const Lane lane = is_float(fold.dtype) ? Lane::kF64 : Lane::kI64;
      ops_.fold_each[static_cast<size_t>(fold.fold)][static_cast<size_t>(lane)](at, from,
                                                                                fold.elems);
      from += fold.elems * kAccumulatorBytes;
    });
  }

  const TileProgram& program_;
  const TileOps& ops_;
  std::span<const Memory> values_;
  ScratchPool& scratch_;
  FoldCut cut_;
  int64_t elems_ = 0;  // accumulators of one set
};

class TileStep final : public Step {
 public:
  TileStep(TileProgram program, const TileOps& ops, std::string description)
      : program_(std::move(program)), ops_(ops), description_(std::move(description)) {
    program_.assign_slots();
  }

  void run(const RunContext& context) override {
    run_tile_program(program_, ops_, context.values, context.scratch);
  }
  std::string description() const override { return description_; }

 private:
  TileProgram program_;
  const TileOps& ops_;
  std::string description_;
};

}  // namespace

void run_tile_program(const TileProgram& program, const TileOps& ops,
                      std::span<const Memory> values, ScratchPool& scratch) {
  if (!program.folds.empty()) return FoldRun(program, ops, values, scratch).run();
  const int64_t elems = elems_of(program.extents);
  if (elems == 0) return;
  const int64_t size = std::clamp(elems / kWantedTilePieces, kLeastPieceElems, kPieceElems);
  parallel_for((elems + size - 1) / size, [&](int64_t piece) {
    const ScratchPool::Lease lease(scratch, program.scratch_bytes());
    TileRunner runner(program, ops, values, {}, lease.data(), Extents(program.extents.size(), 0),
                      program.extents, {}, store_mode(program));
    runner.run(piece * size, std::min(elems, (piece + 1) * size));
  });
}

std::unique_ptr<Step> make_tile_step(TileProgram program, const TileOps& ops,
                                     std::string description) {
  return std::make_unique<TileStep>(std::move(program), ops, std::move(description));
}

}  // namespace hostir::cpu
