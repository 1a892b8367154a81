// The one place that includes oneDNN: single-threaded matrix products on plain pointers.
//
// Debian 12 has version 2.6, Ubuntu 24.04 version 3; both are compiled from onednn.cpp. The library
// is built with OpenMP there, whose threads would fight ours for the cores and which
// ThreadSanitizer cannot see: products run with one OpenMP thread each, and callers cut work over
// their own threads. Exceptions of the library end here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "hostir/ir/dtype.h"

namespace hostir::cpu::onednn {

/// c[m][n] = a[m][k] * b[k][n]; c has unit column stride. Strides in elements; of each operand's
/// two strides one is 1. Sums are f32 and rounded once where c is bf16.
struct MatmulSpec {
  DType dtype = DType::kF32;  // of a and b: f32, or bf16 where has_native_bf16()
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t a_row = 0;
  int64_t a_column = 1;
  int64_t b_row = 0;
  int64_t b_column = 1;
  int64_t c_row = 0;
  DType c_dtype = DType::kF32;  // f32, or bf16 where a and b are
};

enum class Weights : uint8_t { kPlain, kPacked };

/// Immutable after create(); run() may be called from several threads with scratch of their own.
class Matmul {
 public:
  /// Null where the library has no such product. With kPacked, `like` (if not null) gives the
  /// layout of the packed operand: one packing then serves several heights.
  static std::unique_ptr<Matmul> create(const MatmulSpec& spec, Weights weights,
                                        const Matmul* like);
  ~Matmul();

  int64_t scratch_bytes() const;
  int64_t packed_bytes() const;
  void run(const void* a, const void* b, void* c, std::byte* scratch) const;
  /// Packs a plain operand (strides of the spec) for run().
  void pack(const void* b, void* packed) const;

 private:
  struct Parts;
  explicit Matmul(std::unique_ptr<Parts> parts);
  std::unique_ptr<Parts> parts_;
};

/// True if bf16 products are not emulated on this CPU.
bool has_native_bf16();

}  // namespace hostir::cpu::onednn
