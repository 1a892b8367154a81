// NumPy's `.npy` files.
//
// Reads format versions 1 to 3, either byte order, C or Fortran order, f2 f4 f8, i1 i2 i4 i8, u1 u2
// u4 u8, b1, c8 c16 (as f4 f8 with a last dimension of 2 for the parts), and what ml_dtypes adds:
// `bfloat16`, `float8_e4m3fn`, `float8_e5m2`, two-byte void
// (`V2`: bf16) and one-byte void (`V1`: u8, since either 8-bit float may be meant). Unsigned
// integers may hold the bits of a 16- or 8-bit float (`holds_bits_of` in ir/fits.h).
// Writes version 1, C order, little endian; bf16 as `<V2`, 8-bit floats by their ml_dtypes names,
// which NumPy reads after `import ml_dtypes`.
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
/// Writes complex numbers. `tensor`: f32 or f64, with a last dimension of 2 for the parts.
std::string format_complex_npy(const Tensor& tensor);

/// Errors: `file_open`, `file_read`, `npy_format`; the message names the path.
Expected<Tensor> read_npy(const std::string& path);
/// A note such as "x.npy holds two-byte void, which is read as the bits of bf16" if the
/// file does not name the element type.
/// Empty otherwise, or if the file cannot be read.
std::string npy_reading(const std::string& path);
Expected<void> write_npy(const std::string& path, const Tensor& tensor);

}  // namespace hostir::io
