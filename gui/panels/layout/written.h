// Which ranks have written a tensor. Memory that was never written is poison and is never shown as
// numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/panels/values/tensor_pick.h"

namespace hostir::gui {

enum class Written : uint8_t {
  kNever,
  kInFlight,  // the first write was issued but is not visible yet
  kYes,
};
/// kNever if the rank does not hold the tensor.
Written written_on(const interp::Snapshot& shot, const TensorView& tensor, interp::Rank rank);

/// The ranks that hold the tensor, by what they have written.
struct WrittenRanks {
  std::vector<interp::Rank> yes;
  std::vector<interp::Rank> in_flight;
  std::vector<interp::Rank> never;
};
WrittenRanks written_ranks(const interp::Snapshot& shot, const TensorView& tensor);

/// Which elements of a box of the global tensor are valid, in row-major order: some rank that holds
/// the element has written it; for a partial tensor, every rank that holds an addend has. Cost: the
/// number of elements, once for all replicas.
std::vector<bool> written_cells(const TensorView& tensor, const WrittenRanks& ranks,
                                const Box& box);

/// `r0, r2..r5`; after a few ranges, "and 12 more".
std::string rank_list(const std::vector<interp::Rank>& ranks);

}  // namespace hostir::gui
