#include "interp/sim/exchange.h"

#include <algorithm>
#include <cstring>

#include "interp/sim/fold.h"

namespace hostir::sim {

Piece Piece::part(int64_t offset, int64_t size) const {
  const int64_t from = std::clamp<int64_t>(offset, 0, size_bytes);
  return {chunk, offset_bytes + from, std::clamp<int64_t>(size, 0, size_bytes - from)};
}

Piece joined(std::span<const Piece> pieces) {
  int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.size_bytes;
  if (bytes == 0) return {};
  for (const Piece& piece : pieces) {
    if (piece.size_bytes == bytes) return piece;
  }
  Piece out{ChunkRef::make(bytes), 0, bytes};
  std::byte* to = out.chunk->data();
  for (const Piece& piece : pieces) {
    if (piece.size_bytes == 0) continue;
    std::memcpy(to, piece.data(), static_cast<size_t>(piece.size_bytes));
    to += piece.size_bytes;
  }
  return out;
}

Exchange::Exchange(SimMemory& memory, DType dtype, Reduction reduction, int32_t root,
                   std::span<const std::pair<int32_t, int32_t>> pairs,
                   std::vector<Contribution> members)
    : memory_(memory),
      dtype_(dtype),
      reduction_(reduction),
      root_(root),
      pairs_(pairs),
      members_(std::move(members)) {
  inputs_.resize(members_.size());
  for (size_t i = 0; i < members_.size(); ++i) {
    const BufferRef& in = members_[i].in;
    if (!in.allocation.valid() || in.size_bytes == 0) continue;
    inputs_[i] = {memory_.chunk(members_[i].rank, in), in.offset_bytes, in.size_bytes};
  }
}

void Exchange::give(size_t position, const Piece& piece) {
  if (position >= members_.size() || !has_out(position)) return;
  BufferRef out = members_[position].out;
  out.size_bytes = std::min(out.size_bytes, piece.size_bytes);
  if (out.size_bytes <= 0) return;
  memory_.assign(members_[position].rank, out, piece.chunk, piece.offset_bytes);
}

void Exchange::give_zeros(size_t position) {
  if (!has_out(position) || out_bytes(position) == 0) return;
  const Contribution& m = members_[position];
  std::byte* to = memory_.writable(m.rank, m.out, SimMemory::Keep::kNothingInRange);
  std::memset(to, 0, static_cast<size_t>(m.out.size_bytes));
}

Piece Exchange::folded() {
  if (inputs_.empty()) return {};
  int64_t bytes = inputs_.front().size_bytes;
  std::vector<const std::byte*> data;
  for (const Piece& piece : inputs_) {
    bytes = std::min(bytes, piece.size_bytes);
    data.push_back(piece.data());
  }
  if (bytes == 0) return {};
  Piece out{ChunkRef::make(bytes), 0, bytes};
  if (fold_) {
    fold_(data, out.chunk->data(), bytes / element_bytes());
  } else {
    fold(reduction_, dtype_, data, out.chunk->data(), bytes / element_bytes());
  }
  return out;
}

#define HOSTIR_COMMUNICATION_OP(name) void sim_##name(Exchange& exchange);
#include "hostir/ir/ops.def"

ExchangeFunction exchange_function(OpKind kind) {
  struct Row {
    OpKind kind;
    ExchangeFunction function;
  };
  static constexpr Row kTable[] = {
#define HOSTIR_COMMUNICATION_OP(name) {OpKind::name, &sim_##name},
#include "hostir/ir/ops.def"
  };
  for (const Row& row : kTable) {
    if (row.kind == kind) return row.function;
  }
  return nullptr;
}

}  // namespace hostir::sim
