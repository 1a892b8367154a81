// NumPy's `.npy` files, the way in which numbers come in and go out.
//
// Read: format versions 1 to 3, either byte order, C or Fortran order, f2 f4 f8, i1 i2 i4 i8, u1 u2
// u4 u8, b1, and two-byte void (`V2`, what ml_dtypes writes for bfloat16). Some widen: i2 -> i32,
// u4 -> i64, u8 -> i64 (an error where it does not fit); u2 holds bfloat16 bits. Written: version
// 1, C order, little endian; bf16 as `<V2`, i1 as `|b1`. Source: numpy/lib/format.py, NEP 1.
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
/// "x.npy holds int16, which is read as i32" where the elements become another dtype than the
/// file's; else, and where the file cannot be read, empty.
std::string npy_reading(const std::string& path);
Expected<void> write_npy(const std::string& path, const Tensor& tensor);

}  // namespace hostir::io
