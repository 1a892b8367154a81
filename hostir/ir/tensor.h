// A dense host tensor: what goes in and comes out of runs, `.npy` files and inline values.
//
// Row-major, contiguous, owned. i1 is one byte per element.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/index_expr.h"

namespace hostir {

struct Tensor {
  DType dtype = DType::kF32;
  Extents extents;
  std::vector<std::byte> data;

  /// Zeros. The element count must fit in memory; callers check `--max-memory` before.
  static Tensor zeros(DType dtype, Extents extents);
  int64_t element_count() const;
  /// Element by row-major index, through double or int64; narrowing rounds to nearest even.
  double get_double(int64_t index) const;
  int64_t get_int(int64_t index) const;
  void set_double(int64_t index, double value);
  void set_int(int64_t index, int64_t value);

  friend bool operator==(const Tensor&, const Tensor&) = default;  // bitwise
};

/// Element access on raw memory, the one place that switches over dtypes for generic code.
double load_double(DType dtype, const std::byte* element);
int64_t load_int(DType dtype, const std::byte* element);
void store_double(DType dtype, std::byte* element, double value);
void store_int(DType dtype, std::byte* element, int64_t value);

/// The value converted to another dtype, element by element, round to nearest even.
Tensor converted(const Tensor& tensor, DType dtype);

}  // namespace hostir
