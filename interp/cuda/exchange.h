// One collective, or one send/recv pair, in terms of addresses: what moves where.
//
// Each op has two functions in comm/<mnemonic>.cpp. `moves_<mnemonic>` handles members on the same
// device: it lists the bytes to move and the reductions, which a few kernels execute.
// `wire_<mnemonic>` lists the calls of one member on a communicator between devices (NCCL).
// Elements are counted in storage order. Ranges are clamped to the buffers, so that a mismatch the
// interpreter let pass accesses no other memory.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "hostir/ir/op_kind.h"
#include "interp/cuda/device.h"

namespace hostir::cuda {

struct Side {
  std::byte* data = nullptr;
  int64_t bytes = 0;  // 0 if the member has none
};

/// One member's input and output; a send/recv pair has two members, the sender first.
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

/// Operations on one device, in any order: no entry writes a range that another entry reads, unless
/// `Transfers::stage` is set.
struct Transfers {
  std::vector<Move> moves;
  std::vector<const void*> fold_inputs;
  std::vector<FoldTarget> fold_targets;
  bool stage = false;  // moves read what others write: use scratch

  /// Copies the start of `from` to a member's output, as much as fits.
  void give(const Member& to, int64_t offset_bytes, const Side& from);
  void give_zeros(const Member& to);
  /// Writes elements from `begin` on of the reduction of all inputs, as many as fit.
  void give_fold(const Exchange& exchange, const Member& to, int64_t begin, int64_t elems);
  /// Determines whether staging is needed.
  void close();
};

/// The calls of a member between devices, inside one group call. Dtype and reduction are the
/// exchange's.
/// Equivalent to: ncclAllReduce, ncclBroadcast, ncclSend, ...
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
  /// Copies on the member's own device; `from` nullptr: zeros.
  virtual void copy(void* to, const void* from, int64_t bytes) = 0;
  /// An input that can be read while the output is written: the input itself, or a copy if they
  /// overlap.
  virtual const std::byte* steady_input(const Member& self) = 0;
};

using MovesFunction = void (*)(const Exchange& exchange, Transfers& out);
using WireFunction = void (*)(const Exchange& exchange, size_t position, Wire& wire);
MovesFunction moves_function(OpKind kind);
WireFunction wire_function(OpKind kind);

/// The start of each block, in elements; blocks are consecutive.
std::vector<int64_t> starts_of(const std::vector<int64_t>& counts);
bool all_equal(const std::vector<int64_t>& counts);
/// Elements that `from` sends to `to` in an all_to_all; equal blocks if there are no counts.
int64_t block_elems(const Exchange& exchange, size_t from, size_t to);

}  // namespace hostir::cuda
