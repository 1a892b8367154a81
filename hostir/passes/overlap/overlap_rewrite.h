// Rewrites the sites of a host function, each as chosen (overlap.h).
#pragma once

#include "hostir/passes/overlap/chunk_kernels.h"
#include "hostir/passes/overlap/overlap_plan.h"

namespace hostir {

/// The function with its sites rewritten; it launches kernels of `kernels`. nullopt: a kernel
/// cannot be made for the rows of a chunk.
std::optional<Function> rewrite_sites(const Program& program, const Function& host,
                                      const std::vector<OverlapSite>& sites,
                                      const std::vector<OverlapChoice>& choices,
                                      ChunkKernels& kernels);

}  // namespace hostir
