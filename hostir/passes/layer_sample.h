// A fusion with few of its repeated layers, to try choices that are too expensive to try on all.
//
//   1. Find the ops that repeat: the layers, and in a gradient those of their gradients.
//   2. Drop the same layers from each, from the middle. Which ops belong to one layer follows from
//      what they use of it: a gradient uses the values of its layer.
//   3. What used the last dropped layer now uses the last one before the gap, so that the sample is
//      joined as the layers are.
#pragma once

#include <optional>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

struct LayerSample {
  Function function;
  /// By value of the whole fusion, then by result of it: the same in the sample, numbered likewise;
  /// kNotThere for those of dropped layers.
  std::vector<size_t> tensor_of;
  static constexpr size_t kNotThere = SIZE_MAX;
};

/// nullopt if no layers repeat, or if ops outside use more of them than the last: an update that
/// adds up something over all layers, one by one.
std::optional<LayerSample> sample_of_layers(const Function& fusion);

}  // namespace hostir
