// NCCL's NVTX ranges in an Nsight Systems export: the calls of the host, with their payloads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "traces/profile/profile.h"

namespace hostir::traces::profile {

/// One call of the NCCL API.
struct NcclRange {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t thread = 0;  // globalTid
  std::string name;    // `ncclAllReduce`
  std::vector<std::byte> payload;
  bool claimed = false;  // a kernel of it was found
};

/// A member of a communicator, from `ncclCommInitRank` and its like.
struct NcclMember {
  uint64_t communicator = 0;  // hash
  int32_t size = 0;
  int32_t rank = 0;
};

/// The range as a collective, send or receive, without its group; nullopt for any other NCCL
/// call. Sets `communicator` to the hash of its communicator if the payload has it.
std::optional<Call> call_of(const NcclRange& range, std::optional<uint64_t>& communicator);
/// The member that the range adds to a communicator, if it does.
std::optional<NcclMember> member_of(const NcclRange& range);

/// The payload in a value of NVTX_EVENTS.binaryData: a header of 32 bytes, then the payload.
std::span<const std::byte> payload_of(std::span<const std::byte> binary_data);

}  // namespace hostir::traces::profile
