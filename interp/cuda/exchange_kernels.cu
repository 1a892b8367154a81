#include <algorithm>

#include "interp/cuda/exchange_kernels.h"
#include "interp/cuda/fold_table.h"

namespace hostir::cuda {

namespace {

constexpr int kThreads = 256;

// ---- moves: a thread block takes chunks of one move after the other

constexpr int kMostMoves = 32;       // per launch
constexpr int64_t kChunk = 1 << 15;  // bytes

struct MoveList {
  Move moves[kMostMoves];
  int64_t first_chunk[kMostMoves + 1];
  int count;
};

__device__ void move_chunk(const Move& move, int64_t begin) {
  auto* to = static_cast<unsigned char*>(move.to) + begin;
  const int64_t bytes = min(kChunk, move.bytes - begin);
  const auto* from = static_cast<const unsigned char*>(move.from);
  if (from != nullptr) from += begin;
  const auto address = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from);
  int64_t done = 0;
  if (address % sizeof(uint4) == 0) {
    const int64_t words = bytes / static_cast<int64_t>(sizeof(uint4));
    for (int64_t i = threadIdx.x; i < words; i += kThreads) {
      reinterpret_cast<uint4*>(to)[i] =
          from == nullptr ? make_uint4(0, 0, 0, 0) : reinterpret_cast<const uint4*>(from)[i];
    }
    done = words * static_cast<int64_t>(sizeof(uint4));
  } else if (address % sizeof(uint32_t) == 0) {
    const int64_t words = bytes / static_cast<int64_t>(sizeof(uint32_t));
    for (int64_t i = threadIdx.x; i < words; i += kThreads) {
      reinterpret_cast<uint32_t*>(to)[i] =
          from == nullptr ? 0u : reinterpret_cast<const uint32_t*>(from)[i];
    }
    done = words * static_cast<int64_t>(sizeof(uint32_t));
  }
  for (int64_t i = done + threadIdx.x; i < bytes; i += kThreads) {
    to[i] = from == nullptr ? 0 : from[i];
  }
}

__global__ void __launch_bounds__(kThreads) move_kernel(const __grid_constant__ MoveList list) {
  const int64_t chunks = list.first_chunk[list.count];
  for (int64_t chunk = blockIdx.x; chunk < chunks; chunk += gridDim.x) {
    int m = 0;
    while (chunk >= list.first_chunk[m + 1]) ++m;
    move_chunk(list.moves[m], (chunk - list.first_chunk[m]) * kChunk);
  }
}

// ---- reductions

// For few members: a small argument block launches faster.
template <int kMembers>
struct FoldList {
  const void* inputs[kMembers];
  FoldTarget targets[kMembers];
  int64_t begin;
  int64_t end;
  int input_count;
  int target_count;
};

template <class Stored>
__device__ void store_all(const FoldTarget* targets, int count, int64_t i, Stored value) {
  for (int t = 0; t < count; ++t) {
    if (i >= targets[t].begin && i < targets[t].end) {
      static_cast<Stored*>(targets[t].to)[i - targets[t].begin] = value;
    }
  }
}

// Reads every input of an element before writing its result, so that a target may be the part of an
// input that it is computed from.
template <class Element, class Combine, int kMembers>
__global__ void __launch_bounds__(kThreads)
    fold_kernel(const __grid_constant__ FoldList<kMembers> list) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = list.begin + static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
       i < list.end; i += stride) {
    store_all(list.targets, list.target_count, i,
              fold_element<Element, Combine>(list.inputs, list.input_count, i));
  }
}

// Processes 16 bytes of each input at a time. All addresses are aligned for it, and every target
// takes all elements, so that the result of one vector goes to the same place in each.
template <class Element, class Combine, int kMembers>
__global__ void __launch_bounds__(kThreads)
    fold_vectors_kernel(const __grid_constant__ FoldList<kMembers> list) {
  using Stored = typename Element::Stored;
  using Sum = typename Element::Sum;
  constexpr int kLanes = 16 / static_cast<int>(sizeof(Stored));
  union Vector {
    uint4 bits;
    Stored lanes[kLanes];
  };
  const int64_t vectors = list.end / kLanes;
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < vectors;
       i += stride) {
    Vector in;
    Sum sum[kLanes];
    in.bits = static_cast<const uint4*>(list.inputs[0])[i];
#pragma unroll
    for (int l = 0; l < kLanes; ++l) sum[l] = Element::load(in.lanes[l]);
    for (int k = 1; k < list.input_count; ++k) {
      in.bits = static_cast<const uint4*>(list.inputs[k])[i];
#pragma unroll
      for (int l = 0; l < kLanes; ++l) {
        sum[l] = Combine::combine(sum[l], Element::load(in.lanes[l]));
      }
    }
    Vector out;
#pragma unroll
    for (int l = 0; l < kLanes; ++l) {
      if constexpr (Combine::kAverage) {
        sum[l] = static_cast<Sum>(sum[l] / static_cast<Sum>(list.input_count));
      }
      out.lanes[l] = Element::store(sum[l]);
    }
    for (int t = 0; t < list.target_count; ++t) {
      static_cast<uint4*>(list.targets[t].to)[i] = out.bits;
    }
  }
}

int blocks_for(int64_t work, int multiprocessors) {
  const int64_t most = static_cast<int64_t>(multiprocessors) * 8;
  return static_cast<int>(std::clamp<int64_t>((work + kThreads - 1) / kThreads, 1, most));
}

// The vector kernel handles complete reductions with every target; the scalar kernel handles the
// tail.
template <class Element, class Combine, int kMembers>
cudaError_t launch_fold(const Fold& fold, int multiprocessors, cudaStream_t stream) {
  FoldList<kMembers> list{};
  list.input_count = static_cast<int>(fold.inputs.size());
  list.target_count = static_cast<int>(fold.targets.size());
  uintptr_t addresses = 0;
  list.begin = INT64_MAX;
  bool whole = true;
  for (size_t i = 0; i < fold.inputs.size(); ++i) {
    list.inputs[i] = fold.inputs[i];
    addresses |= reinterpret_cast<uintptr_t>(fold.inputs[i]);
  }
  for (size_t t = 0; t < fold.targets.size(); ++t) {
    const FoldTarget& target = list.targets[t] = fold.targets[t];
    addresses |= reinterpret_cast<uintptr_t>(target.to);
    list.begin = std::min(list.begin, target.begin);
    list.end = std::max(list.end, target.end);
    whole = whole && target.begin == 0 && target.end == fold.targets[0].end;
  }
  constexpr int64_t kLanes = 16 / static_cast<int64_t>(sizeof(typename Element::Stored));
  if (whole && addresses % 16 == 0 && list.end >= kLanes) {
    const int blocks = blocks_for(list.end / kLanes, multiprocessors);
    fold_vectors_kernel<Element, Combine, kMembers><<<blocks, kThreads, 0, stream>>>(list);
    list.begin = list.end / kLanes * kLanes;
  }
  if (list.begin < list.end) {
    const int blocks = blocks_for(list.end - list.begin, multiprocessors);
    fold_kernel<Element, Combine, kMembers><<<blocks, kThreads, 0, stream>>>(list);
  }
  return cudaGetLastError();
}

struct FoldOnDevice {
  const Fold& fold;
  int multiprocessors;
  cudaStream_t stream;
  cudaError_t status = cudaSuccess;

  template <class Element, class Combine>
  void run() {
    constexpr int kFew = 8;
    const size_t members = std::max(fold.inputs.size(), fold.targets.size());
    status = members <= kFew ? launch_fold<Element, Combine, kFew>(fold, multiprocessors, stream)
                             : launch_fold<Element, Combine, static_cast<int>(kMostFoldInputs)>(
                                   fold, multiprocessors, stream);
  }
};

// ---- boxes with strides

struct StridedList {
  const unsigned char* from;
  unsigned char* to;
  int64_t extents[kMostDimensions];
  int64_t from_strides[kMostDimensions];
  int64_t to_strides[kMostDimensions];
  int64_t elems;
  int element_bytes;
  int dimensions;
};

__global__ void __launch_bounds__(kThreads) strided_kernel(const __grid_constant__ StridedList c) {
  const int64_t stride = static_cast<int64_t>(gridDim.x) * kThreads;
  for (int64_t e = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; e < c.elems;
       e += stride) {
    int64_t rest = e;
    int64_t from = 0;
    int64_t to = 0;
    for (int d = c.dimensions - 1; d >= 0; --d) {
      const int64_t i = rest % c.extents[d];
      rest /= c.extents[d];
      from += i * c.from_strides[d];
      to += i * c.to_strides[d];
    }
    from *= c.element_bytes;
    to *= c.element_bytes;
    switch (c.element_bytes) {
      case 8:
        *reinterpret_cast<uint64_t*>(c.to + to) = *reinterpret_cast<const uint64_t*>(c.from + from);
        break;
      case 4:
        *reinterpret_cast<uint32_t*>(c.to + to) = *reinterpret_cast<const uint32_t*>(c.from + from);
        break;
      case 2:
        *reinterpret_cast<uint16_t*>(c.to + to) = *reinterpret_cast<const uint16_t*>(c.from + from);
        break;
      default:
        c.to[to] = c.from[from];
    }
  }
}

__global__ void delay_kernel(int64_t ns) {
  uint64_t begin = 0;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
  for (uint64_t now = begin; now - begin < static_cast<uint64_t>(ns);) {
    __nanosleep(1000);
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  }
}

}  // namespace

cudaError_t load_exchange_kernels() {
  cudaFuncAttributes attributes{};
  const cudaError_t status = cudaFuncGetAttributes(&attributes, move_kernel);
  return status != cudaSuccess ? status : cudaFuncGetAttributes(&attributes, strided_kernel);
}

cudaError_t enqueue_moves(std::span<const Move> moves, cudaStream_t stream) {
  constexpr int64_t kLarge = 1 << 22;  // from here on the copy engine is as fast, and uses no SMs
  MoveList list;
  list.count = 0;
  list.first_chunk[0] = 0;
  const auto flush = [&] {
    if (list.count == 0) return;
    const int64_t chunks = list.first_chunk[list.count];
    move_kernel<<<static_cast<int>(std::min<int64_t>(chunks, 2048)), kThreads, 0, stream>>>(list);
    list.count = 0;
  };
  for (const Move& move : moves) {
    if (move.bytes <= 0 || move.to == move.from) continue;
    if (move.bytes >= kLarge && moves.size() == 1 && move.from != nullptr) {
      return cudaMemcpyAsync(move.to, move.from, static_cast<size_t>(move.bytes),
                             cudaMemcpyDeviceToDevice, stream);
    }
    list.moves[list.count] = move;
    list.first_chunk[list.count + 1] =
        list.first_chunk[list.count] + (move.bytes + kChunk - 1) / kChunk;
    if (++list.count == kMostMoves) flush();
  }
  flush();
  return cudaGetLastError();
}

cudaError_t enqueue_fold(const Fold& fold, int multiprocessors, cudaStream_t stream) {
  FoldOnDevice run{fold, multiprocessors, stream};
  with_fold_types(fold.reduction, fold.dtype, run);
  return run.status;
}

cudaError_t enqueue_copy(const StridedCopy& copy, cudaStream_t stream) {
  StridedList list{};
  list.from = static_cast<const unsigned char*>(copy.from);
  list.to = static_cast<unsigned char*>(copy.to);
  list.element_bytes = static_cast<int>(copy.element_bytes);
  list.dimensions = static_cast<int>(copy.extents.size());
  list.elems = 1;
  for (size_t d = 0; d < copy.extents.size(); ++d) {
    list.extents[d] = copy.extents[d];
    list.from_strides[d] = copy.from_strides[d];
    list.to_strides[d] = copy.to_strides[d];
    list.elems *= copy.extents[d];
  }
  if (list.elems == 0) return cudaSuccess;
  const auto blocks =
      static_cast<int>(std::min<int64_t>((list.elems + kThreads - 1) / kThreads, 4096));
  strided_kernel<<<blocks, kThreads, 0, stream>>>(list);
  return cudaGetLastError();
}

cudaError_t enqueue_delay(int64_t ns, cudaStream_t stream) {
  delay_kernel<<<1, 1, 0, stream>>>(ns);
  return cudaGetLastError();
}

}  // namespace hostir::cuda
