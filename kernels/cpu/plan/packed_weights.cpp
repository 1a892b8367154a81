#include "kernels/cpu/plan/packed_weights.h"

namespace hostir::cpu {

const std::byte* PackedWeights::find(const std::byte* data, uint64_t version) const {
  if (version == 0) return nullptr;
  for (const Entry& entry : entries_) {
    if (entry.data == data && entry.version == version) return entry.aligned;
  }
  return nullptr;
}

std::byte* PackedWeights::add(ConstMemory data, int64_t bytes) {
  entries_.remove_if([&](const Entry& entry) { return entry.data == data.data; });
  if (entries_.size() >= kMost) entries_.pop_front();
  Entry& entry = entries_.emplace_back();
  entry.data = data.data;
  entry.version = data.version;
  entry.bytes.resize(static_cast<size_t>(bytes) + 64);
  const auto address = reinterpret_cast<uintptr_t>(entry.bytes.data());
  entry.aligned = entry.bytes.data() + (64 - address % 64) % 64;
  return entry.aligned;
}

int64_t PackedWeights::bytes() const {
  int64_t bytes = 0;
  for (const Entry& entry : entries_) bytes += static_cast<int64_t>(entry.bytes.size());
  return bytes;
}

}  // namespace hostir::cpu
