// Finds the repeated layers of a fusion, and makes the same fusion with fewer of them.
//
//   1. Number the ops: equal op, attributes and types give equal numbers. The distances between
//      neighbouring equal ops are the possible lengths of a layer.
//   2. For each length, find the longest run of ops that equal those one length later. All layers
//      of a run must refer to values in the same way: to the previous layer, to themselves, to
//      values before the run, or each to its own parameters.
//   3. The length whose run has most ops wins, the shortest of several.
// Ops after the run may use only values of the last layer. Such layers are cut alike, so a plan for
// two of them is a plan for all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

struct RepeatedLayers {
  size_t first = 0;   // index of the first op in the fusion's body
  size_t length = 0;  // ops per layer
  size_t count = 0;   // at least 3
  /// By layer: the names of its own parameters, without '%'; equal places have equal roles.
  std::vector<std::vector<std::string>> parameters;
};

/// Ops that repeat: those at `first`, again `length` later, `count` times (at least 3).
struct RepeatedOps {
  size_t first = 0;  // index in the fusion's body
  size_t length = 0;
  size_t count = 0;
};

/// Steps 1 and 2, ignoring what the ops refer to and which part of a parameter they read: in a
/// gradient, the layers and, after them, their gradients. In the order of the body; they do not
/// overlap.
std::vector<RepeatedOps> repeated_ops(const Function& fusion);

/// nullopt if the fusion has no three equal layers in a row.
std::optional<RepeatedLayers> repeated_layers(const Function& fusion);

/// The fusion with its first `kept` layers (at least 1), without the parameters of the others.
Function with_layers(const Function& fusion, const RepeatedLayers& layers, size_t kept);

/// The size that counts layers, if they are the passes of a loop: N in `for %i in 0..?N`, where
/// nothing else depends on ?N but the leading dimensions of stacks.
std::optional<std::string> layer_size(const Function& fusion);

/// The fusion with `kept` layers, which this size counts.
Function with_layers(const Function& fusion, const std::string& size, size_t kept);

}  // namespace hostir
