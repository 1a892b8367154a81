// Cuts a fusion into parts, by the values that its results need (stage.h, step 3).
#pragma once

#include <functional>
#include <span>

#include "hostir/ir/program.h"

namespace hostir::pipeline {

struct Part {
  std::vector<InstrId> instructions;  // in order
  std::vector<ValueId> arguments;     // parameters of the fusion, then values of earlier parts
  std::vector<ValueId> results;       // the wanted values, then those that later parts use
};

/// Part n computes the n-th list of values from parameters and values of earlier parts. Every
/// instruction is in the first part that needs it; those that depend on no parameter are in all
/// parts that do.
std::vector<Part> cut_by_results(const Function& fusion,
                                 std::span<const std::vector<ValueId>> wanted);

/// The part as a fusion. `layout` gives the sharding of arguments and results. A result that is an
/// argument, or listed before, is copied, so that each result is a buffer of its own.
Function fusion_of(const Function& fusion, const Part& part, const std::string& name,
                   const std::function<Sharding(ValueId)>& layout);

}  // namespace hostir::pipeline
