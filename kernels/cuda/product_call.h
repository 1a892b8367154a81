// One call of cublasLtMatmul (or one per outer batch element), with its algorithm chosen.
//
// cuBLASLt is column-major. Computing the transposed product, d^T = b^T a^T, puts its bias along
// our columns and avoids copies.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/disk_cache.h"
#include "kernels/cuda/generate/plan.h"
#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

/// The inputs of choosing an algorithm besides the product.
struct ProductSetting {
  cublasLtHandle_t handle = nullptr;
  const CompilerOptions& options;
  const DiskCache& cache;
  std::string device;  // part of the cache's key
};

/// Workspace limit for cuBLASLt: its recommendation for Hopper, and more if many algorithms are
/// tried.
constexpr uint64_t most_workspace_bytes(CompilerOptions::Search search) {
  return uint64_t{search == CompilerOptions::Search::kTimed ? 64u : 32u} << 20;
}

class ProductCall {
 public:
  /// nullopt if cuBLASLt has no algorithm. `alignment`: of all pointers, in bytes.
  static std::optional<ProductCall> choose(const ProductStep& step, const ProductSetting& setting,
                                           uint32_t alignment);

  int64_t workspace_bytes() const { return workspace_bytes_; }
  /// Pointers of the operands' buffers; `c` and `bias` are null if absent.
  struct Pointers {
    const std::byte* a = nullptr;
    const std::byte* b = nullptr;
    const std::byte* c = nullptr;
    const std::byte* bias = nullptr;
    std::byte* d = nullptr;
  };
  cublasStatus_t run(cublasLtHandle_t handle, const Pointers& pointers, void* workspace,
                     Stream stream) const;

 private:
  bool describe(const ProductStep& step, const CompilerOptions& options);
  // product_search.cpp
  /// Sets the fastest of `proposals`, and of their neighbours if asked.
  void choose_by_time(const ProductSetting& setting,
                      const std::vector<cublasLtMatmulHeuristicResult_t>& proposals,
                      bool with_neighbours);
  std::vector<ProductCall> neighbours(const ProductSetting& setting) const;

  ProductStep step_;
  Extents outer_batch_;  // one call each; the last batch dimension is inside a call
  cublasLtMatmulDescOpaque_t desc_ = {};
  // The C interface takes non-const layouts, but only reads them.
  mutable cublasLtMatrixLayoutOpaque_t left_ = {};   // b^T
  mutable cublasLtMatrixLayoutOpaque_t right_ = {};  // a^T
  mutable cublasLtMatrixLayoutOpaque_t in_ = {};     // c^T
  mutable cublasLtMatrixLayoutOpaque_t out_ = {};    // d^T
  cublasLtMatmulAlgo_t algorithm_ = {};
  int64_t workspace_bytes_ = 0;
};

}  // namespace hostir::cuda
