// Which ranks have written a tensor: what was never written is poison, not numbers, and is never
// shown as such.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gui/panels/tensor_pick.h"

namespace hostir::gui {

enum class Written : uint8_t {
  kNever,
  kInFlight,  // the first write was issued and is not visible yet
  kYes,
};
/// kNever where the rank does not hold the tensor.
Written written_on(const interp::Snapshot& shot, const TensorView& tensor, interp::Rank rank);

/// Those that hold the tensor, by what they have of it.
struct WrittenRanks {
  std::vector<interp::Rank> yes;
  std::vector<interp::Rank> in_flight;
  std::vector<interp::Rank> never;
};
WrittenRanks written_ranks(const interp::Snapshot& shot, const TensorView& tensor);

/// Which elements of a part of the whole tensor mean something, in row-major order: a rank that
/// holds it has written it; of a partial one, every rank that holds an addend. Cost: the elements,
/// once for all replicas.
std::vector<bool> written_cells(const TensorView& tensor, const WrittenRanks& ranks,
                                const Box& box);

/// `r0, r2..r5`; at most a few stretches, then "and 12 more".
std::string rank_list(const std::vector<interp::Rank>& ranks);

}  // namespace hostir::gui
