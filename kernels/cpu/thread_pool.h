// The threads inside one kernel: std::jthread, not OpenMP, so that ThreadSanitizer sees them.
//
// There is one pool per process, because cores are a process-wide resource: `thread_count() - 1`
// workers that sleep between jobs. A job submitted while another one runs (kernels called from
// several threads) runs on its caller's thread only. Results never depend on the number of threads:
// callers cut work into pieces by size, not by thread.
#pragma once

#include <cstdint>

namespace hostir::cpu {

/// Calls f(context, i) for i in [0, count), from several threads, and returns when all are done.
/// f must not throw.
void parallel_pieces(int64_t count, void (*f)(void*, int64_t), void* context);

template <class F>
void parallel_for(int64_t count, F f) {
  parallel_pieces(
      count, [](void* context, int64_t i) { (*static_cast<F*>(context))(i); }, &f);
}

}  // namespace hostir::cpu
