#include "interp/cuda/exchange.h"

#include <algorithm>

namespace hostir::cuda {

Side Exchange::in_part(size_t position, int64_t offset_bytes, int64_t bytes) const {
  const Side& in = members[position].in;
  const int64_t from = std::clamp<int64_t>(offset_bytes, 0, in.bytes);
  const int64_t size = std::clamp<int64_t>(bytes, 0, in.bytes - from);
  return {in.data == nullptr ? nullptr : in.data + from, size};
}

void Transfers::give(const Member& to, int64_t offset_bytes, const Side& from) {
  if (!to.has_out || from.data == nullptr) return;
  const int64_t bytes = std::min(from.bytes, to.out.bytes - offset_bytes);
  std::byte* at = to.out.data + offset_bytes;
  if (bytes <= 0 || at == from.data) return;
  moves.push_back({at, from.data, bytes});
}

void Transfers::give_zeros(const Member& to) {
  if (to.has_out && to.out.bytes > 0) moves.push_back({to.out.data, nullptr, to.out.bytes});
}

void Transfers::give_fold(const Exchange& exchange, const Member& to, int64_t begin,
                          int64_t elems) {
  int64_t shortest = exchange.members.front().in.bytes;
  for (const Member& m : exchange.members) shortest = std::min(shortest, m.in.bytes);
  const int64_t element = exchange.element_bytes();
  const int64_t fits = to.has_out ? to.out.bytes / element : 0;
  const int64_t end = std::min({shortest / element, begin + elems, begin + fits});
  if (end <= begin) return;
  if (fold_inputs.empty()) {
    for (const Member& m : exchange.members) fold_inputs.push_back(m.in.data);
  }
  fold_targets.push_back({to.out.data, begin, end});
}

void Transfers::close() {
  struct Written {
    const std::byte* lo;
    const std::byte* hi;
  };
  std::vector<Written> written;
  for (const Move& m : moves) {
    const auto* to = static_cast<const std::byte*>(m.to);
    written.push_back({to, to + m.bytes});
  }
  std::sort(written.begin(), written.end(),
            [](const Written& a, const Written& b) { return a.lo < b.lo; });
  for (const Move& m : moves) {
    const auto* lo = static_cast<const std::byte*>(m.from);
    if (lo == nullptr) continue;
    const std::byte* hi = lo + m.bytes;
    auto at = std::upper_bound(written.begin(), written.end(), lo,
                               [](const std::byte* x, const Written& w) { return x < w.lo; });
    if (at != written.begin() && (at - 1)->hi > lo) stage = true;
    if (at != written.end() && at->lo < hi) stage = true;
    if (stage) return;
  }
}

std::vector<int64_t> starts_of(const std::vector<int64_t>& counts) {
  std::vector<int64_t> out;
  int64_t at = 0;
  for (const int64_t count : counts) {
    out.push_back(at);
    at += count;
  }
  return out;
}

bool all_equal(const std::vector<int64_t>& counts) {
  return std::all_of(counts.begin(), counts.end(),
                     [&](int64_t count) { return count == counts.front(); });
}

int64_t block_elems(const Exchange& exchange, size_t from, size_t to) {
  const std::vector<int64_t>& counts = exchange.members[from].send_counts;
  if (to < counts.size()) return counts[to];
  const auto ranks = static_cast<int64_t>(exchange.members.size());
  return exchange.members[from].in.bytes / exchange.element_bytes() / ranks;
}

#define HOSTIR_COMMUNICATION_OP(name)                          \
  void moves_##name(const Exchange& exchange, Transfers& out); \
  void wire_##name(const Exchange& exchange, size_t position, Wire& wire);
#include "hostir/ir/ops.def"

namespace {

struct ExchangeRow {
  OpKind kind;
  MovesFunction moves;
  WireFunction wire;
};

const ExchangeRow* exchange_row(OpKind kind) {
  static constexpr ExchangeRow kTable[] = {
#define HOSTIR_COMMUNICATION_OP(name) {OpKind::name, &moves_##name, &wire_##name},
#include "hostir/ir/ops.def"
  };
  for (const ExchangeRow& row : kTable) {
    if (row.kind == kind) return &row;
  }
  return nullptr;
}

}  // namespace

MovesFunction moves_function(OpKind kind) {
  const ExchangeRow* row = exchange_row(kind);
  return row == nullptr ? nullptr : row->moves;
}

WireFunction wire_function(OpKind kind) {
  const ExchangeRow* row = exchange_row(kind);
  return row == nullptr ? nullptr : row->wire;
}

}  // namespace hostir::cuda
