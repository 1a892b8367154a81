// Kernels that compute some of the rows that another kernel computes.
//
// "Rows" is one dimension that a kernel carries from some parameters to all of its results without
// combining, moving or numbering its elements, such as the tokens of a linear layer with bias and
// gelu. Then some rows of the results need only the same rows of the parameters, and each element
// is computed exactly as before.
//
//   1. Start from one parameter or result. The sharding rule of each op says in which dimensions of
//      its operands and results the same factor is; follow it both ways until nothing changes.
//   2. Refuse if an op reduces the factor, mixes or exchanges its elements, or merges it with
//      another one, if a source such as iota produces it, or if a result does not have it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hostir/ir/program.h"

namespace hostir {

struct KernelRows {
  std::vector<std::optional<size_t>> dims;  // by value of the kernel: the dimension of the rows
  std::string problem;                      // why there are no such rows; empty if there are
};

/// `start` is a parameter or result of `kernel`, `dim` the dimension of the rows in it.
KernelRows rows_of_kernel(const Program& program, const Function& kernel, ValueId start,
                          size_t dim);

/// The kernel for this number of global rows. nullopt if an attribute of an op fixes the number.
std::optional<Function> chunk_kernel(const Program& program, const Function& kernel,
                                     const KernelRows& rows, int64_t count);

/// The kernel for this number of rows of each rank, on plain local tensors. Its values have no
/// layout, because ranks have different rows. nullopt also if parts differ by rank.
std::optional<Function> local_chunk_kernel(const Program& program, const Function& kernel,
                                           const KernelRows& rows, int64_t count);
/// The type of a rank's part as a plain tensor; nullopt if parts differ by rank.
std::optional<TensorType> local_type(const Program& program, const Type& type);

}  // namespace hostir
