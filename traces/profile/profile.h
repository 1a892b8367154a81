// The contents of one process's profile: device work, launches, collectives and steps.
//
// Readers (kineto.h, nsys.h) fill it in; nothing here is derived. Rows are compact, because a
// profile of minutes holds millions of them. Times are in nanoseconds of the process's own clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/dtype.h"
#include "interp/model/ids.h"

namespace hostir::traces::profile {

inline constexpr uint32_t kNone = UINT32_MAX;
/// The most rows of device work in one process; together with the limits on names and calls, this
/// bounds the memory of a reader.
inline constexpr size_t kMostRows = size_t{1} << 22;
inline constexpr size_t kMostNames = size_t{1} << 18;
inline constexpr size_t kMostNameBytes = 1024;  // longer kernel names are cut

/// Times beyond this are damage; sums and differences of two fit.
inline constexpr int64_t kMostNs = int64_t{1} << 61;

/// A process group or NCCL communicator, as this process names it.
struct Group {
  std::string name;
  std::string description;
  std::optional<std::vector<model::Rank>> members;  // global ranks, in order
  std::optional<uint32_t> size;
  std::optional<uint32_t> position;  // of this process
  friend bool operator==(const Group&, const Group&) = default;
};

/// What the source says about a communication kernel; shared by all calls that say the same.
struct Call {
  enum class Shape : uint8_t { kCollective, kSend, kRecv } shape = Shape::kCollective;
  uint32_t group = kNone;  // in ProcessProfile::groups
  std::string name;        // the source's: `_allgather_base`, `AllReduce`
  std::optional<DType> dtype;
  std::optional<Reduction> reduction;
  std::optional<int64_t> in_elems;
  std::optional<int64_t> out_elems;
  std::optional<int64_t> bytes;        // if elements are unknown
  std::optional<int32_t> root;         // position in the group
  std::optional<model::Rank> peer;     // send, recv: global rank
  std::optional<uint32_t> peer_place;  // send, recv: position in the group, if only that is known
  friend bool operator==(const Call&, const Call&) = default;
};

/// One kernel, copy or memset on a stream.
struct Row {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;                // >= begin_ns
  std::optional<int64_t> issued_ns;  // the launch on the host
  int64_t stream = 0;
  uint64_t sequence = 0;  // of the collective in its group; 0: unknown
  uint32_t name = kNone;  // in ProcessProfile::names
  uint32_t call = kNone;  // in ProcessProfile::calls; kNone: not communication
  bool copy = false;      // a copy or memset: uses no compute units
};

/// One iteration of the job, on the host.
struct Step {
  int64_t number = 0;
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
};

struct ProcessProfile {
  std::string producer;
  std::string version;
  std::string file;
  std::optional<model::Rank> rank;
  std::string rank_found_by;  // empty: stated in the file
  std::optional<int64_t> world_size;
  std::optional<int64_t> process;
  std::vector<Group> groups;
  std::vector<Call> calls;
  std::vector<std::string> names;
  std::vector<Row> rows;    // by begin_ns
  std::vector<Step> steps;  // by begin_ns
  std::vector<std::string> remarks;
};

}  // namespace hostir::traces::profile
