// A fusion with few of its repeated layers, to try choices that are too expensive to try on all.
//
//   1. Find the ops that repeat: the layers, and in a gradient the layers' gradients.
//   2. Drop the same layers from each, from the middle. An op belongs to the layer whose values
//      it uses: a gradient uses the values of its layer.
//   3. Users of the last dropped layer now use the last layer before the gap, so that the sample
//      is joined as the layers are. A stack of all layers' values has this layer for each dropped.
#pragma once

#include <optional>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

struct LayerSample {
  Function function;
  /// For each value of the whole fusion, then each of its results: the same value or result in the
  /// sample, numbered likewise; kNotThere for those of dropped layers.
  std::vector<size_t> tensor_of;
  static constexpr size_t kNotThere = SIZE_MAX;
};

/// nullopt if no layers repeat, or if ops outside use other layers than the last one (such as a sum
/// over all layers, one by one) and do not stack them.
std::optional<LayerSample> sample_of_layers(const Function& fusion);

}  // namespace hostir
