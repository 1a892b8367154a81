// The prediction for a fusion of many equal layers, from predictions for two fusions with fewer.
//
// Time grows with every layer as it does from the fewer to the more. Peak memory is the highest of
// many moments, and each grows in its own way: from the two peaks alone, the moment that grows most
// is missed if another one is still higher. So the memory held after each alloc and free is
// compared moment by moment.
//   1. The allocs and frees of the fewer layers are looked for among those of the more: from the
//      start (the first layers), to the end (the last ones, and the first layers' gradients), and
//      around each series of them that occurs once in both (the surroundings of the loss). Layers
//      in between are like one another, so nothing says which one is which.
//   2. A stretch of them that is the same in both is a stretch of moments, each of which has grown
//      by what the added layers hold then, and will grow by as much with every further one.
#pragma once

#include <map>
#include <string>

#include "hostir/api/plan_prediction.h"

namespace hostir::api {

/// How many layers the fewer, the more and all of them are.
struct LayerCounts {
  size_t few = 0;
  size_t many = 0;
  size_t all = 0;
};

/// Shardings and homes are those of `few`; there is no explanation and no memory by moment.
Prediction extrapolated(Prediction few, const Prediction& many, const LayerCounts& layers);

/// The homes of axes for all layers, from those for a few: an axis has the same in every layer.
/// `first`: parameters of layers, and the parameter of the first layer that has the same role.
NamedHomes in_all_layers(NamedHomes homes, const std::map<std::string, std::string>& first);

}  // namespace hostir::api
