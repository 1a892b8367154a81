// The prediction for a fusion of many equal layers, from predictions for two fusions with fewer.
//
// Time grows with every layer as it does from the smaller sample to the larger one. Peak memory is
// the highest of many moments, and each grows in its own way. The two peaks alone would miss the
// moment that grows most, if another one is still higher. So the memory held after each alloc and
// free is compared moment by moment.
//   1. The allocs and frees of the smaller sample are matched with those of the larger one: from
//      the start (the first layers), to the end (the last ones, and the first layers' gradients),
//      and around each series of them that occurs once in both (the surroundings of the loss).
//      Layers in between are interchangeable, so they cannot be told apart.
//   2. In each matched stretch, every moment has grown by the memory that the added layers hold,
//      and grows by as much with every further layer.
#pragma once

#include <map>
#include <string>

#include "hostir/api/plan/plan_prediction.h"

namespace hostir::api {

/// Layers in the smaller sample, in the larger one, and in the whole fusion.
struct LayerCounts {
  size_t few = 0;
  size_t many = 0;
  size_t all = 0;
};

/// Shardings and homes are those of `few`; there is no explanation and no memory by moment.
Prediction extrapolated(Prediction few, const Prediction& many, const LayerCounts& layers);

/// The homes of axes for all layers, from those for a few layers: they are the same in every layer.
/// `first`: parameters of layers, and the parameter of the first layer that has the same role.
NamedHomes in_all_layers(NamedHomes homes, const std::map<std::string, std::string>& first);

}  // namespace hostir::api
