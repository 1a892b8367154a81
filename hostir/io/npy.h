// NumPy's `.npy` files.
//
// Reads format versions 1 to 3, either byte order, C or Fortran order, f2 f4 f8, i1 i2 i4 i8, u1 u2
// u4 u8, b1, and two-byte void (`V2`, which ml_dtypes writes for bfloat16). Some types widen:
// i2 -> i32, u4 -> i64, u8 -> i64 (an error if a value does not fit). u2 is read as bfloat16 bits.
// Writes version 1, C order, little endian; bf16 as `<V2`, i1 as `|b1`.
// Source: numpy/lib/format.py, NEP 1.
#pragma once

#include <span>
#include <string>

#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::io {

/// Errors: `npy_format` (damaged or unsupported), with the reason. Never reads outside `bytes`.
Expected<Tensor> parse_npy(std::span<const std::byte> bytes);
std::string format_npy(const Tensor& tensor);

/// Errors: `file_open`, `file_read`, `npy_format`; the message names the path.
Expected<Tensor> read_npy(const std::string& path);
/// A note such as "x.npy holds int16, which is read as i32" if reading changes the element type.
/// Empty otherwise, or if the file cannot be read.
std::string npy_reading(const std::string& path);
Expected<void> write_npy(const std::string& path, const Tensor& tensor);

}  // namespace hostir::io
