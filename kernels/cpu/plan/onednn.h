// The only interface to oneDNN: single-threaded matrix products on plain pointers.
//
// onednn.cpp compiles with both version 2.6 (Debian 12) and version 3 (Ubuntu 24.04). Their builds
// use OpenMP, whose threads would compete with ours for the cores and are invisible to
// ThreadSanitizer. So products run with one OpenMP thread each, and callers split work over their
// own threads. The library's exceptions are caught here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hostir/ir/dtype.h"

namespace hostir::cpu::onednn {

/// c[m][n] = a[m][k] * b[k][n]; c is dense. Strides are in elements; each operand has one stride of
/// 1. Sums are f32, rounded once if c is bf16.
struct MatmulSpec {
  DType dtype = DType::kF32;  // of a and b: f32, or bf16 if has_native_bf16()
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t a_row = 0;
  int64_t a_column = 1;
  int64_t b_row = 0;
  int64_t b_column = 1;
  DType c_dtype = DType::kF32;  // f32, or bf16 if a and b are
};

enum class Weights : uint8_t { kPlain, kPacked };

/// Immutable after create(); run() may be called from several threads, each with its own scratch.
class Matmul {
 public:
  /// Null if the library does not support the product. With kPacked, `like` (if not null)
  /// determines the layout of the packed operand, so that one packing serves several heights.
  static std::unique_ptr<Matmul> create(const MatmulSpec& spec, Weights weights,
                                        const Matmul* like);
  ~Matmul();

  int64_t scratch_bytes() const;
  int64_t packed_bytes() const;
  void run(const void* a, const void* b, void* c, std::byte* scratch) const;
  /// Packs a plain operand (with the strides of the spec) for run().
  void pack(const void* b, void* packed) const;

 private:
  struct Parts;
  explicit Matmul(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// True if this CPU multiplies bf16 natively.
bool has_native_bf16();

}  // namespace hostir::cpu::onednn
