// One collective, as seen by the code that moves its data.
//
// Every member's input is a retained chunk, so that outputs may be written in any order and in
// place. Outputs are set by sharing (`give`) or by writing (`make`, then `give`). Positions are
// those of the group; elements are counted in storage order, as in NCCL. All byte ranges are
// clamped to the buffers, so that a mismatch the interpreter let pass cannot access other memory.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "interp/core/backend.h"
#include "interp/sim/memory.h"

namespace hostir::sim {

/// One member's input and output.
struct Contribution {
  Rank rank = 0;
  BufferRef in;                      // invalid allocation: none
  BufferRef out;                     // invalid allocation: none
  interp::MemberCounts send_counts;  // elements, by position
  interp::MemberCounts recv_counts;
};

/// Bytes of a chunk.
struct Piece {
  ChunkRef chunk;  // empty: no bytes
  int64_t offset_bytes = 0;
  int64_t size_bytes = 0;
  const std::byte* data() const { return chunk ? chunk->data() + offset_bytes : nullptr; }
  Piece part(int64_t offset, int64_t size) const;
};
/// Concatenates pieces into a new chunk; shares the chunk if only one piece has bytes.
Piece joined(std::span<const Piece> pieces);

class Exchange {
 public:
  Exchange(SimMemory& memory, DType dtype, Reduction reduction, int32_t root,
           std::span<const std::pair<int32_t, int32_t>> pairs, std::vector<Contribution> members);

  /// Replaces fold(), if set. Elements have the size of the dtype.
  using Fold =
      std::function<void(std::span<const std::byte* const> inputs, std::byte* out, int64_t elems)>;
  void fold_with(Fold fold) { fold_ = std::move(fold); }

  size_t size() const { return members_.size(); }
  int64_t element_bytes() const { return size_bytes(dtype_); }
  int32_t root() const { return root_; }
  std::span<const std::pair<int32_t, int32_t>> pairs() const { return pairs_; }
  const Contribution& member(size_t position) const { return members_[position]; }

  const Piece& in(size_t position) const { return inputs_[position]; }
  int64_t out_bytes(size_t position) const { return members_[position].out.size_bytes; }
  bool has_out(size_t position) const { return members_[position].out.allocation.valid(); }

  /// Sets a member's output; shorter pieces leave the rest of the buffer as it is.
  void give(size_t position, const Piece& piece);
  void give_zeros(size_t position);
  /// All inputs reduced in group order; as long as the shortest.
  Piece folded();
  /// All inputs concatenated.
  Piece concatenated() const { return joined(inputs_); }

 private:
  SimMemory& memory_;
  DType dtype_;
  Reduction reduction_;
  int32_t root_;
  std::span<const std::pair<int32_t, int32_t>> pairs_;
  std::vector<Contribution> members_;
  std::vector<Piece> inputs_;
  Fold fold_;
};

/// `sim_<mnemonic>` in interp/sim/comm/<mnemonic>.cpp, one per communication op; a missing one is a
/// link error. recv and send run as one exchange of two members, the sender first, in `sim_send`.
using ExchangeFunction = void (*)(Exchange&);
ExchangeFunction exchange_function(OpKind kind);

}  // namespace hostir::sim
