// One collective, or one send and its recv, as addresses: what moves where.
//
// Each op has two functions in comm/<mnemonic>.cpp. `moves_<mnemonic>` says, for members that all
// lie on one device, which bytes go where and what is folded; a few kernels then do it.
// `wire_<mnemonic>` says what one member calls on a communicator between devices (NCCL). Elements
// are counted in storage order. Ranges are clamped to the buffers, so a mismatch that the
// interpreter let pass touches no other memory.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hostir/ir/op_kind.h"
#include "interp/cuda/device.h"

namespace hostir::cuda {

struct Side {
  std::byte* data = nullptr;
  int64_t bytes = 0;  // 0 where the member has none
};

/// What one member brings and gets; a send/recv pair has two, the sender first.
struct Member {
  interp::Rank rank = 0;
  Side in;
  Side out;
  bool has_out = false;
  std::vector<int64_t> send_counts;  // elements, by position
  std::vector<int64_t> recv_counts;
};

struct Exchange {
  OpKind kind = OpKind::all_reduce;
  DType dtype = DType::kF32;
  Reduction reduction = Reduction::kSum;
  int32_t root = -1;
  std::vector<std::pair<int32_t, int32_t>> pairs;
  std::vector<Member> members;  // by position; remote ones are empty

  int64_t element_bytes() const { return size_bytes(dtype); }
  /// A part of a member's input, clamped.
  Side in_part(size_t position, int64_t offset_bytes, int64_t bytes) const;
};

/// What is done on one device, in any order: no range that is written is read by another entry,
/// but where `Transfers::stage` says so.
struct Transfers {
  std::vector<Move> moves;
  std::vector<const void*> fold_inputs;
  std::vector<FoldTarget> fold_targets;
  bool stage = false;  // moves read what others write: through scratch

  /// The beginning of `from` to a member's output, as far as both reach.
  void give(const Member& to, int64_t offset_bytes, const Side& from);
  void give_zeros(const Member& to);
  /// Elements [begin, begin + what fits) of the fold of all inputs.
  void give_fold(const Exchange& exchange, const Member& to, int64_t begin, int64_t elems);
  /// Finds out whether it has to be staged.
  void close();
};

/// What a member calls between devices, inside one group call. Dtype and reduction are the
/// exchange's. Equivalent to: ncclAllReduce, ncclBroadcast, ncclSend, ...
class Wire {
 public:
  virtual ~Wire() = default;
  virtual void all_reduce(const void* in, void* out, int64_t elems) = 0;
  virtual void reduce(const void* in, void* out, int64_t elems, int root) = 0;
  virtual void broadcast(const void* in, void* out, int64_t elems, int root) = 0;
  virtual void all_gather(const void* in, void* out, int64_t elems) = 0;
  virtual void reduce_scatter(const void* in, void* out, int64_t elems) = 0;
  virtual void send(const void* data, int64_t elems, int peer) = 0;
  virtual void recv(void* data, int64_t elems, int peer) = 0;
  /// On the member's own device; `from` nullptr: zeros.
  virtual void copy(void* to, const void* from, int64_t bytes) = 0;
  /// The input where it may be read while the output is written: itself, or a copy if they overlap.
  virtual const std::byte* steady_input(const Member& self) = 0;
};

using MovesFunction = void (*)(const Exchange& exchange, Transfers& out);
using WireFunction = void (*)(const Exchange& exchange, size_t position, Wire& wire);
MovesFunction moves_function(OpKind kind);
WireFunction wire_function(OpKind kind);

/// Elements at the beginning of each block; blocks lie behind each other.
std::vector<int64_t> starts_of(const std::vector<int64_t>& counts);
bool all_equal(const std::vector<int64_t>& counts);
/// Elements that `from` sends to `to` in an all_to_all; equal blocks where no counts are given.
int64_t block_elems(const Exchange& exchange, size_t from, size_t to);

}  // namespace hostir::cuda
