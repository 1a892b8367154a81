#include "kernels/cpu/tile/strand_fold.h"

#include <algorithm>
#include <array>

#include "kernels/cpu/isa.h"
#include "kernels/cpu/thread_pool.h"
#include "kernels/cpu/tile/tile_ops.h"

namespace hostir::cpu {
namespace {

/// A tile of eight inputs takes about as long as handing a piece to a thread that is awake.
constexpr int64_t kFoldPieceElems = 4 * kTileElems;
/// Inputs of one strand; division, store and end need steps too.
constexpr size_t kMostInputs = kMostStrandSteps - 4;

/// All tiles use the same strands; only addresses change.
class TileFolder {
 public:
  TileFolder(const StrandTable& table, Reduction reduction, DType dtype,
             std::span<const std::byte* const> inputs, std::byte* out)
      : table_(table),
        reduction_(reduction),
        is_raw_(dtype == DType::kBF16),
        inputs_(inputs),
        out_(out) {}

  void run(int64_t begin, int64_t n) {
    const int64_t at = begin * elem_bytes();
    for (size_t first = 0; first < inputs_.size();) {
      const size_t last = std::min(inputs_.size(), first + kMostInputs);
      count_ = 0;
      if (first > 0) add(table_.get[0], sums_.data(), 4);
      for (size_t i = first; i < last; ++i) add_input(i, inputs_[i] + at);
      finish(last == inputs_.size(), out_ + at);
      table_.run(steps_.data(), static_cast<int>(count_), n);
      first = last;
    }
  }

 private:
  int64_t elem_bytes() const { return is_raw_ ? 2 : 4; }

  StrandStep& add(StrandFn fn, const void* memory, int64_t size) {
    StrandStep& step = steps_[count_++];
    step = {};
    step.fn = fn;
    step.memory = const_cast<void*>(memory);  // only a put writes
    step.elem_bytes = static_cast<uint8_t>(size);
    return step;
  }

  void add_input(size_t i, const std::byte* memory) {
    // By Reduction: sum, avg, prod, min, max.
    constexpr std::array<StrandBinary, 5> kOps = {StrandBinary::kAdd, StrandBinary::kAdd,
                                                  StrandBinary::kMul, StrandBinary::kMinimum,
                                                  StrandBinary::kMaximum};
    if (i == 0) {
      add(table_.get[is_raw_], memory, elem_bytes());
      return;
    }
    // Of equal values the earlier one is kept.
    const bool is_reversed = reduction_ == Reduction::kMin || reduction_ == Reduction::kMax;
    const auto op = static_cast<size_t>(kOps[static_cast<size_t>(reduction_)]);
    const StrandSource source = is_raw_ ? StrandSource::kBF16 : StrandSource::kF32;
    add(table_.binary[op][is_reversed][static_cast<size_t>(source)], memory, elem_bytes());
  }

  void finish(bool is_last, std::byte* out) {
    if (is_last && reduction_ == Reduction::kAvg) {
      const auto divide = static_cast<size_t>(StrandBinary::kDiv);
      const auto number = static_cast<size_t>(StrandSource::kNumber);
      add(table_.binary[divide][0][number], nullptr, 0).number = static_cast<float>(inputs_.size());
    }
    if (is_last) {
      add(table_.put[is_raw_], out, elem_bytes()).writes = true;
    } else {
      add(table_.put[0], sums_.data(), 4).writes = true;
    }
    add(table_.end, nullptr, 0);
  }

  const StrandTable& table_;
  Reduction reduction_;
  bool is_raw_;
  std::span<const std::byte* const> inputs_;
  std::byte* out_;
  std::array<StrandStep, kMostStrandSteps> steps_;
  size_t count_ = 0;
  std::array<float, kTileElems> sums_;  // partial sum, if there are too many inputs for one strand
};

}  // namespace

bool fold_in_order(Reduction reduction, DType dtype, std::span<const std::byte* const> inputs,
                   std::byte* out, int64_t elems) {
  if (dtype != DType::kF32 && dtype != DType::kBF16) return false;
  const StrandTable& table = tile_ops(detected_isa()).strands;
  parallel_for((elems + kFoldPieceElems - 1) / kFoldPieceElems, [&](int64_t piece) {
    TileFolder folder(table, reduction, dtype, inputs, out);
    const int64_t end = std::min(elems, (piece + 1) * kFoldPieceElems);
    for (int64_t at = piece * kFoldPieceElems; at < end; at += kTileElems) {
      folder.run(at, std::min(kTileElems, end - at));
    }
  });
  return true;
}

}  // namespace hostir::cpu
