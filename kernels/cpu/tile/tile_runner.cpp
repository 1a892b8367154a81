#include "kernels/cpu/tile/tile_runner.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace hostir::cpu {
namespace {

/// A tile may split rows shorter than this. Longer rows end with a tile, so that each is reduced in
/// one piece.
constexpr int64_t kLongRow = 128;

template <class T>
void gather(const std::byte* from, int64_t stride, int64_t n, std::byte* to) {
  for (int64_t i = 0; i < n; ++i) {
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)),
                from + i * stride * static_cast<int64_t>(sizeof(T)), sizeof(T));
  }
}

void gather_elements(int64_t size, const std::byte* from, int64_t stride, int64_t n,
                     std::byte* to) {
  if (stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(n * size));
  } else if (size == 1) {
    gather<uint8_t>(from, stride, n, to);
  } else if (size == 2) {
    gather<uint16_t>(from, stride, n, to);
  } else if (size == 4) {
    gather<uint32_t>(from, stride, n, to);
  } else {
    gather<uint64_t>(from, stride, n, to);
  }
}

bool is_aligned(const void* p, int64_t size) {
  return reinterpret_cast<uintptr_t>(p) % static_cast<uintptr_t>(size) == 0;
}

constexpr int64_t kCacheLine = 64;

int64_t accumulator_bytes() { return 8; }

/// Prefetches the next tile while this one is computed. May point past the end.
void prefetch(const std::byte* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i);
}

}  // namespace

TileRunner::TileRunner(const TileProgram& program, const TileOps& ops,
                       std::span<const Memory> memory, std::span<void* const> accumulators,
                       std::byte* scratch, const Extents& lo, const Extents& hi,
                       const HeadTile& head, StoreMode mode)
    : program_(program), ops_(ops), scratch_(scratch), mode_(mode) {
  Extents extents(lo.size());
  for (size_t d = 0; d < lo.size(); ++d) extents[d] = std::max<int64_t>(hi[d] - lo[d], 0);
  for (const int64_t extent : extents) elems_ *= extent;
  for (const TileLoad& load : program.loads) {
    if (load.kind == TileLoad::Kind::kMemory && load.view.value == head.value) {
      paths_.push_back({head.data, 0, head.strides});
    } else if (load.kind == TileLoad::Kind::kIndex) {
      add_path(load.view, nullptr, lo);
    } else {
      add_path(load.view, memory[load.view.value].data, lo);
    }
  }
  for (const TileStore& store : program.stores) {
    add_path(store.view, memory[store.view.value].data, lo);
  }
  for (size_t f = 0; f < program.folds.size(); ++f) {
    add_path(program.folds[f].view, static_cast<std::byte*>(accumulators[f]), lo);
  }
  collapse(std::move(extents));
  regs_.assign(program.lanes.size(), nullptr);
  aims_.assign(program.lanes.size(), {});
  for (const TileInstr& constant : program.constants) {
    regs_[static_cast<size_t>(constant.dst)] = slot(constant.dst);
    if (elems_ > 0) execute(constant, kTileElems);
  }
}

void TileRunner::add_path(const StridedView& view, std::byte* base, const Extents& lo) {
  Path path{base, view.offset, view.strides};
  for (size_t d = 0; d < lo.size(); ++d) path.offset += lo[d] * view.strides[d];
  paths_.push_back(std::move(path));
}

/// Drops dimensions of one element and merges neighbours that every view walks evenly.
void TileRunner::collapse(Extents extents) {
  for (size_t d = extents.size(); d > 0; --d) {
    const size_t inner = d - 1;
    bool joins = extents[inner] == 1 && extents.size() > 1;
    const bool drops = joins;
    if (!joins && inner > 0) {
      joins = std::all_of(paths_.begin(), paths_.end(), [&](const Path& path) {
        return path.strides[inner - 1] == path.strides[inner] * extents[inner];
      });
    }
    if (!joins) continue;
    for (Path& path : paths_) {
      if (!drops) path.strides[inner - 1] = path.strides[inner];
      path.strides.erase(path.strides.begin() + static_cast<std::ptrdiff_t>(inner));
    }
    if (!drops) extents[inner - 1] *= extents[inner];
    extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(inner));
  }
  if (extents.empty()) {
    extents.push_back(1);
    for (Path& path : paths_) path.strides.push_back(1);
  }
  extents_ = std::move(extents);
  for (Path& path : paths_) {
    path.is_dense = path.strides.back() == 1;
    for (size_t d = extents_.size() - 1; d > 0; --d) {
      path.is_dense &= path.strides[d - 1] == path.strides[d] * extents_[d];
    }
  }
  choose_rows();
}

/// A tile that holds one row of a few hundred elements costs more than its arithmetic. So it gets
/// as many rows as fit, if that copies little (results, and a bias row once per row).
void TileRunner::choose_rows() {
  rows_ = 1;
  const int64_t row = extents_.back();
  if (mode_ == StoreMode::kStreaming || extents_.size() < 2 || row < kLongRow) return;
  const auto loads_end = paths_.begin() + static_cast<std::ptrdiff_t>(program_.loads.size());
  const bool copies_little = std::all_of(paths_.begin(), loads_end, [&](const Path& path) {
    return path.is_dense || (path.strides.back() == 1 && path.strides[extents_.size() - 2] == 0);
  });
  if (copies_little) rows_ = std::max<int64_t>(kTileElems / row, 1);
}

void* TileRunner::slot(int reg) const {
  return scratch_ + program_.slots[static_cast<size_t>(reg)] * kTileElems * 8;
}

void TileRunner::move_to(int64_t position, int64_t end) {
  TileSpan& tile = tile_;
  tile.index.resize(extents_.size());
  int64_t rest = position;
  if (extents_.size() == 1) tile.index[0] = position;
  for (size_t d = extents_.size(); d > 0 && extents_.size() > 1; --d) {
    tile.index[d - 1] = rest % extents_[d - 1];
    rest /= extents_[d - 1];
  }
  const int64_t row_rest = extents_.back() - tile.index.back();
  tile.n = std::min(kTileElems, end - position);
  if (extents_.back() >= kLongRow) {
    const int64_t rows_rest = tile.index.back() == 0 ? rows_ * extents_.back() : row_rest;
    tile.n = std::min(tile.n, rows_rest);
  }
  tile.one_run = tile.n <= row_rest;
  if (mode_ == StoreMode::kStreaming && tile.one_run) align_tile();
}

/// Ends the tile early if the next one can then be stored past the caches.
void TileRunner::align_tile() {
  if (program_.stores.empty() || !program_.stores[0].is_last_word) return;
  const Path& path = paths_[program_.loads.size()];
  const int64_t size = size_bytes(program_.stores[0].dtype);
  if (path.strides.back() != 1) return;
  const auto to = reinterpret_cast<uintptr_t>(path.base + offset_at(path, tile_.index) * size);
  const int64_t past = static_cast<int64_t>(to % kCacheLine);
  if (past != 0 && past % size == 0) tile_.n = std::min(tile_.n, (kCacheLine - past) / size);
}

int64_t TileRunner::offset_at(const Path& path, const Extents& index) const {
  int64_t offset = path.offset;
  for (size_t d = 0; d < index.size(); ++d) offset += index[d] * path.strides[d];
  return offset;
}

/// Calls f(position in the tile, offset in the view, elements) for each part of a row in the tile.
template <class F>
void TileRunner::for_each_run(const Path& path, F f) {
  walk_ = tile_.index;
  Extents& index = walk_;
  for (int64_t done = 0; done < tile_.n;) {
    const int64_t n = std::min(tile_.n - done, extents_.back() - index.back());
    f(done, offset_at(path, index), n);
    done += n;
    index.back() = 0;
    for (size_t d = index.size() - 1; d > 0; --d) {
      if (++index[d - 1] < extents_[d - 1]) break;
      index[d - 1] = 0;
    }
  }
}

void TileRunner::execute(const TileInstr& instr, int64_t n) {
  const auto at = [this](int reg) { return reg < 0 ? nullptr : regs_[static_cast<size_t>(reg)]; };
  instr.fn(at(instr.dst), at(instr.a), at(instr.b), at(instr.c), n, instr.params);
}

void TileRunner::run_strand(const TileStrand& strand) {
  const StrandTable& table = ops_.strands;
  std::array<StrandStep, kMostStrandSteps> steps;
  size_t count = 0;
  for (const TileStrandStep& step : strand.steps) {
    StrandStep& s = steps[count++];
    Aim aim;
    if (step.reg >= 0) {
      aim = aims_[static_cast<size_t>(step.reg)];
      s.memory = regs_[static_cast<size_t>(step.reg)];
      s.elem_bytes = aim.is_raw ? 2 : 4;
    }
    s.number = step.number;
    const auto op = static_cast<size_t>(step.op);
    switch (step.kind) {
      case TileStrandStep::Kind::kGet:
        s.fn = table.get[aim.is_raw];
        break;
      case TileStrandStep::Kind::kPut:
        s.writes = true;
        s.fn = (aim.past_caches ? table.stream : table.put)[aim.is_raw];
        break;
      case TileStrandStep::Kind::kUnary:
        s.fn = table.unary[op];
        break;
      case TileStrandStep::Kind::kBinary:
        const StrandSource source = aim.is_raw ? StrandSource::kBF16 : step.source;
        s.fn = table.binary[op][step.is_reversed][static_cast<size_t>(source)];
        break;
    }
  }
  steps[count++].fn = table.end;
  table.run(steps.data(), static_cast<int>(count), tile_.n);
}

void TileRunner::load(size_t which) {
  const TileLoad& load = program_.loads[which];
  const Path& path = paths_[which];
  void*& reg = regs_[static_cast<size_t>(load.reg)];
  aims_[static_cast<size_t>(load.reg)] = {};
  const int64_t size = size_bytes(load.dtype);
  if (load.kind == TileLoad::Kind::kMemory && is_contiguous(path)) {
    std::byte* from = path.base + offset_at(path, tile_.index) * size;
    if (is_aligned(from, size)) {
      prefetch(from + tile_.n * size, tile_.n * size);
      if (is_native(load.dtype)) {
        reg = from;
      } else if (may_be_raw(load.reg)) {
        reg = from;
        aims_[static_cast<size_t>(load.reg)].is_raw = true;
      } else {
        reg = slot(load.reg);
        ops_.load[static_cast<size_t>(load.dtype)](reg, from, nullptr, nullptr, tile_.n, {});
      }
      return;
    }
  }
  reg = slot(load.reg);
  load_strided(load, path, reg);
}

void TileRunner::load_strided(const TileLoad& load, const Path& path, void* target) {
  const int64_t stride = path.strides.back();
  if (load.kind == TileLoad::Kind::kIndex) {
    auto* out = static_cast<int64_t*>(target);
    for_each_run(path, [&](int64_t first, int64_t offset, int64_t n) {
      for (int64_t i = 0; i < n; ++i) out[first + i] = offset + i * stride;
    });
    return;
  }
  const int64_t size = size_bytes(load.dtype);
  std::byte* raw = scratch_ + program_.slot_count * kTileElems * 8;
  std::byte* elements = is_native(load.dtype) ? static_cast<std::byte*>(target) : raw;
  for_each_run(path, [&](int64_t first, int64_t offset, int64_t n) {
    gather_elements(size, path.base + offset * size, stride, n, elements + first * size);
  });
  if (elements == raw) {
    ops_.load[static_cast<size_t>(load.dtype)](target, raw, nullptr, nullptr, tile_.n, {});
  }
}

/// Makes the code write directly to memory if possible.
void TileRunner::aim_store(size_t which) {
  const TileStore& store = program_.stores[which];
  const Path& path = paths_[program_.loads.size() + which];
  const bool is_raw = may_be_raw(store.reg);
  if (!is_contiguous(path) || !(is_native(store.dtype) || is_raw)) return;
  const int64_t size = size_bytes(store.dtype);
  std::byte* to = path.base + offset_at(path, tile_.index) * size;
  const bool streams = mode_ == StoreMode::kStreaming && store.dtype == DType::kF32;
  const bool past_caches = mode_ == StoreMode::kStreaming && store.is_last_word &&
                           is_aligned(to, kCacheLine) && (is_raw || streams);
  if (streams && !past_caches) return;
  if (!is_aligned(to, size)) return;
  regs_[static_cast<size_t>(store.reg)] = to;
  aims_[static_cast<size_t>(store.reg)] = {is_raw, past_caches};
}

bool TileRunner::may_be_raw(int reg) const {
  return !program_.may_be_raw.empty() && program_.may_be_raw[static_cast<size_t>(reg)];
}

void TileRunner::store(size_t which) {
  const TileStore& store = program_.stores[which];
  const Path& path = paths_[program_.loads.size() + which];
  const int64_t size = size_bytes(store.dtype);
  void* reg = regs_[static_cast<size_t>(store.reg)];
  if (is_contiguous(path) && reg == path.base + offset_at(path, tile_.index) * size) return;
  std::byte* raw = scratch_ + program_.slot_count * kTileElems * 8;
  const TileFn convert = ops_.store[static_cast<size_t>(store.dtype)];
  for_each_run(path, [&](int64_t first, int64_t offset, int64_t n) {
    std::byte* to = path.base + offset * size;
    const std::byte* from =
        static_cast<std::byte*>(reg) + first * (is_wide(lane_of(store.dtype)) ? 8 : 4);
    if (path.strides.back() == 1 && is_aligned(to, size)) {
      const bool streams = mode_ == StoreMode::kStreaming && store.dtype == DType::kF32;
      (streams ? ops_.stream : convert)(to, from, nullptr, nullptr, n, {});
      return;
    }
    convert(raw, from, nullptr, nullptr, n, {});
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * path.strides.back() * size, raw + i * size, static_cast<size_t>(size));
    }
  });
}

void TileRunner::fold(size_t which) {
  const TileFold& fold = program_.folds[which];
  if (fold.elems == 0) return;  // a kept dimension of size 1 whose result is on other ranks
  const Path& path = paths_[program_.loads.size() + program_.stores.size() + which];
  const auto kind = static_cast<size_t>(fold.fold);
  const auto lane = static_cast<size_t>(fold.lane);
  const std::byte* reg = static_cast<std::byte*>(regs_[static_cast<size_t>(fold.reg)]);
  const int64_t size = is_wide(fold.lane) ? 8 : 4;
  const int64_t stride = path.strides.back();
  for_each_run(path, [&](int64_t first, int64_t offset, int64_t n) {
    std::byte* to = path.base + offset * accumulator_bytes();
    const std::byte* from = reg + first * size;
    if (stride == 0) {
      ops_.fold_run[kind][lane](to, from, n);
    } else if (stride == 1) {
      ops_.fold_each[kind][lane](to, from, n);
    } else {
      for (int64_t i = 0; i < n; ++i) {
        ops_.fold_each[kind][lane](to + i * stride * accumulator_bytes(), from + i * size, 1);
      }
    }
  });
}

void TileRunner::run(int64_t begin, int64_t end) {
  for (int64_t position = begin; position < end;) {
    move_to(position, end);
    for (const TileInstr& instr : program_.code) {
      program_.for_each_result(instr, [&](int reg) {
        regs_[static_cast<size_t>(reg)] = slot(reg);
        aims_[static_cast<size_t>(reg)] = {};
      });
    }
    for (size_t s = 0; s < program_.stores.size(); ++s) {
      if (program_.stores[s].is_computed) aim_store(s);
    }
    for (size_t l = 0; l < program_.loads.size(); ++l) load(l);
    for (const TileInstr& instr : program_.code) {
      if (instr.strand < 0) {
        execute(instr, tile_.n);
      } else {
        run_strand(program_.strands[static_cast<size_t>(instr.strand)]);
      }
    }
    for (size_t s = 0; s < program_.stores.size(); ++s) store(s);
    for (size_t f = 0; f < program_.folds.size(); ++f) fold(f);
    position += tile_.n;
  }
}

}  // namespace hostir::cpu
