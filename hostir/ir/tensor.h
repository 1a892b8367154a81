// A dense host tensor: the form of run inputs and outputs, `.npy` files and inline values.
//
// The data is row-major, contiguous and owned. i1 takes one byte per element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/index_expr.h"

namespace hostir {

struct Tensor {
  DType dtype = DType::kF32;
  Extents extents;
  std::vector<std::byte> data;

  /// All zeros. Callers check first that the tensor fits in memory (`--max-memory`).
  static Tensor zeros(DType dtype, Extents extents);
  int64_t element_count() const;
  /// Access by row-major index, converted to or from double or int64; narrowing rounds to nearest
  /// even. The int64 of a u64 element holds its 64 bits.
  double get_double(int64_t index) const;
  int64_t get_int(int64_t index) const;
  void set_double(int64_t index, double value);
  void set_int(int64_t index, int64_t value);

  friend bool operator==(const Tensor&, const Tensor&) = default;  // bitwise
};

/// Element access on raw memory. Generic code uses these instead of switching over dtypes.
double load_double(DType dtype, const std::byte* element);
int64_t load_int(DType dtype, const std::byte* element);
void store_double(DType dtype, std::byte* element, double value);
void store_int(DType dtype, std::byte* element, int64_t value);

/// The tensor converted elementwise to another dtype, rounded to nearest even.
Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace hostir
