#include "traces/profile/nsys_ranges.h"

#include <cstring>

#include "traces/import/formats/names.h"

namespace hostir::traces::profile {

namespace {

template <class T>
std::optional<T> read_at(std::span<const std::byte> bytes, size_t at) {
  if (bytes.size() < at + sizeof(T)) return {};
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof(T));
  return value;
}

}  // namespace

std::span<const std::byte> payload_of(std::span<const std::byte> binary_data) {
  constexpr size_t kHeaderBytes = 32;
  const auto size = read_at<uint64_t>(binary_data, 16);
  if (!size || binary_data.size() < kHeaderBytes) return {};
  const std::span<const std::byte> rest = binary_data.subspan(kHeaderBytes);
  return *size < rest.size() ? rest.first(static_cast<size_t>(*size)) : rest;
}

std::optional<Call> call_of(const NcclRange& range, std::optional<uint64_t>& communicator) {
  if (!range.name.starts_with("nccl")) return {};
  Call call;
  call.name = range.name.substr(4);
  const auto kind = import::op_of(call.name);
  if (!kind) return {};
  // u64 communicator, size_t bytes, then i32 fields that depend on the call.
  communicator = read_at<uint64_t>(range.payload, 0);
  const auto bytes = read_at<uint64_t>(range.payload, 8);
  if (bytes && *bytes <= static_cast<uint64_t>(kMostNs)) call.bytes = static_cast<int64_t>(*bytes);
  const auto first = read_at<int32_t>(range.payload, 16);
  const auto second = read_at<int32_t>(range.payload, 20);
  if (kind == OpKind::all_reduce || kind == OpKind::reduce_scatter) {
    if (first) call.reduction = import::nccl_reduction(*first);
  } else if (kind == OpKind::send || kind == OpKind::recv) {
    call.shape = kind == OpKind::send ? Call::Shape::kSend : Call::Shape::kRecv;
    if (first && *first >= 0) call.peer_place = static_cast<uint32_t>(*first);
  } else if (kind != OpKind::all_gather && kind != OpKind::all_to_all) {
    if (first && *first >= 0) call.root = *first;
    if (kind == OpKind::reduce && second) call.reduction = import::nccl_reduction(*second);
  }
  return call;
}

std::optional<NcclMember> member_of(const NcclRange& range) {
  const bool splits = range.name == "ncclCommSplit" || range.name == "ncclCommShrink";
  if (!splits && !range.name.starts_with("ncclCommInitRank")) return {};
  const size_t at = splits ? 16 : 8;
  const auto communicator = read_at<uint64_t>(range.payload, 0);
  const auto size = read_at<int32_t>(range.payload, at);
  const auto rank = read_at<int32_t>(range.payload, at + 4);
  if (!communicator || !size || !rank || *rank < 0 || *rank >= *size) return {};
  return NcclMember{*communicator, *size, *rank};
}

}  // namespace hostir::traces::profile
