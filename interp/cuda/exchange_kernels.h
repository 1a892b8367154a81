// Kernels that move and reduce the buffers of ranks on the same device.
#pragma once

#include <cuda_runtime_api.h>

#include "interp/cuda/device.h"

namespace hostir::cuda {

/// Loads the kernels' module on the current device. This takes milliseconds, so it is not left to
/// the first collective.
cudaError_t load_exchange_kernels();
cudaError_t enqueue_moves(std::span<const Move> moves, cudaStream_t stream);
cudaError_t enqueue_fold(const Fold& fold, int multiprocessors, cudaStream_t stream);
cudaError_t enqueue_copy(const StridedCopy& copy, cudaStream_t stream);
/// Keeps one thread busy for `ns`.
cudaError_t enqueue_delay(int64_t ns, cudaStream_t stream);

}  // namespace hostir::cuda
