// Reading tensor contents: which value, from which rank, which part.
//
// A distributed value is read from one rank (its local shard) or globally: assembled from the boxes
// of all ranks, with partial values reduced in group order on request. Elements that no rank holds
// or that were never written are reported, never invented.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/placement.h"
#include "hostir/ir/tensor.h"
#include "hostir/ir/type.h"
#include "interp/core/ids.h"
#include "interp/session/commands/command.h"
#include "interp/session/snapshots/snapshot.h"

namespace hostir::interp {

struct ValueQuery {
  enum class From : uint8_t { kRank, kGlobal };
  enum class Partial : uint8_t {
    kReduced,  // global reads of a partial value give the reduced value
    kAddends,  // global reads of a partial value are an error: read the ranks
  };
  std::string value;  // name without '%'
  From from = From::kRank;
  Rank rank = 0;  // for kRank
  Partial partial = Partial::kReduced;
  std::optional<Box> box;  // global coordinates; nullopt: everything available
};

struct ValueReading {
  Tensor tensor;        // extents of `box`
  Box box;              // the part read, in global coordinates
  Type type;            // type of the version that was read
  Placement placement;  // on the rank (kRank) or of the whole value (kGlobal)
  uint64_t version = 0;
  bool write_in_flight = false;    // an issued write is not visible yet
  bool undefined = false;          // never written: the contents are meaningless
  std::vector<std::string> notes;  // "partial over {tp}: reduced by sum", "rank 2 was unavailable"
};

/// Selects the element whose past values are requested.
struct PastQuery {
  std::string value;             // name without '%'
  std::vector<int64_t> element;  // global index
};
/// The value of that element after a write, as text; `event` and `rank` identify the write
/// (LogWrite).
struct PastValue {
  int64_t event = -1;
  Rank rank = kNoRank;
  std::string text;
};

/// A write of a tensor, identified as in the log (LogValue).
struct PastWrite {
  int64_t event = -1;
  int64_t tensor = -1;
  Rank rank = kNoRank;
  friend auto operator<=>(const PastWrite&, const PastWrite&) = default;
};
/// Receives what a write left: the rank's local contents. Return false to stop.
using TakeContents = std::function<bool(const PastWrite&, Tensor)>;

/// Global coordinates of a slice as typed: `%y[0:2, :]`; missing dimensions are whole.
/// Errors: `slice_rank`, `slice_range`.
Expected<Box> slice_box(const std::vector<SliceRange>& slice, const Extents& global);

}  // namespace hostir::interp
