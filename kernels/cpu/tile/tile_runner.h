// Runs a tile program over a box of its space, on the calling thread.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "kernels/cpu/kernel.h"
#include "kernels/cpu/tile/tile_program.h"

namespace hostir::cpu {

/// Whether results bypass the caches; worthwhile for results larger than the caches.
enum class StoreMode : uint8_t { kCached, kStreaming };

/// The one load that does not use the program's address: the tile that a matrix product has just
/// produced.
struct HeadTile {
  uint32_t value = UINT32_MAX;
  std::byte* data = nullptr;  // f32, element (lo of the box)
  Extents strides;            // by dimension of the space
};

class TileRunner {
 public:
  /// `memory` by ValueId; `accumulators` one per fold, null if there are none; `scratch` of
  /// `program.scratch_bytes()`, aligned to 64. The box [lo, hi) is in elements of the space.
  TileRunner(const TileProgram& program, const TileOps& ops, std::span<const Memory> memory,
             std::span<void* const> accumulators, std::byte* scratch, const Extents& lo,
             const Extents& hi, const HeadTile& head, StoreMode mode);

  /// Elements of the box.
  int64_t elems() const { return elems_; }
  /// Runs elements [begin, end) of the box in row-major order.
  void run(int64_t begin, int64_t end);

 private:
  struct Path {  // a view in the collapsed space
    std::byte* base = nullptr;
    int64_t offset = 0;
    Extents strides;
    bool is_dense = false;  // row-major without gaps
  };
  struct TileSpan {  // a tile: its first element, by collapsed index
    int64_t n = 0;
    Extents index;
    bool one_run = true;  // within one row
  };

  void add_path(const StridedView& view, std::byte* base, const Extents& lo);
  void collapse(Extents extents);
  void choose_rows();
  void move_to(int64_t position, int64_t end);
  int64_t offset_at(const Path& path, const Extents& index) const;
  /// True if the current tile is one piece of memory.
  bool is_contiguous(const Path& path) const {
    return path.is_dense || (tile_.one_run && path.strides.back() == 1);
  }
  template <class F>
  void for_each_run(const Path& path, F f);

  void* slot(int reg) const;
  void load(size_t which);
  void load_strided(const TileLoad& load, const Path& path, void* target);
  void align_tile();
  bool may_be_raw(int reg) const;
  void aim_store(size_t which);
  void store(size_t which);
  void fold(size_t which);
  void execute(const TileInstr& instr, int64_t n);
  void run_strand(const TileStrand& strand);

  const TileProgram& program_;
  const TileOps& ops_;
  std::byte* scratch_;
  StoreMode mode_;
  int64_t elems_ = 1;
  Extents extents_;          // collapsed, at least one dimension
  std::vector<Path> paths_;  // loads, stores, folds
  std::vector<void*> regs_;  // by virtual register, for the current tile
  struct Aim {               // how strands access what a register points to
    bool is_raw = false;     // bf16 memory instead of lanes
    bool past_caches = false;
  };
  std::vector<Aim> aims_;
  TileSpan tile_;     // the current tile
  int64_t rows_ = 1;  // whole rows of a tile, if they are long
  Extents walk_;      // scratch of for_each_run
};

}  // namespace hostir::cpu
