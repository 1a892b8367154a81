#include "hostir/ir/tensor.h"

#include <cmath>
#include <cstring>

#include "hostir/support/float16.h"
#include "hostir/support/float8.h"

namespace hostir {

namespace {

template <class T>
T load(const std::byte* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <class T>
void store(std::byte* p, T value) {
  std::memcpy(p, &value, sizeof value);
}

// Truncates a double to int64: out-of-range values saturate, NaN becomes 0.
int64_t to_int(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 0x1p63) return INT64_MAX;
  if (value < -0x1p63) return INT64_MIN;
  return static_cast<int64_t>(value);
}

}  // namespace

double load_double(DType dtype, const std::byte* p) {
  switch (dtype) {
    case DType::kF64:
      return load<double>(p);
    case DType::kF32:
      return static_cast<double>(load<float>(p));
    case DType::kBF16:
      return static_cast<double>(bf16_to_float(load<uint16_t>(p)));
    case DType::kF16:
      return static_cast<double>(f16_to_float(load<uint16_t>(p)));
    case DType::kF8E4M3:
      return static_cast<double>(f8e4m3_to_float(load<uint8_t>(p)));
    case DType::kF8E5M2:
      return static_cast<double>(f8e5m2_to_float(load<uint8_t>(p)));
    case DType::kU64:
      return static_cast<double>(load<uint64_t>(p));
    default:
      return static_cast<double>(load_int(dtype, p));
  }
}

int64_t load_int(DType dtype, const std::byte* p) {
  switch (dtype) {
    case DType::kI64:
    case DType::kU64:
      return load<int64_t>(p);
    case DType::kI32:
      return load<int32_t>(p);
    case DType::kI16:
      return load<int16_t>(p);
    case DType::kI8:
      return load<int8_t>(p);
    case DType::kU32:
      return load<uint32_t>(p);
    case DType::kU16:
      return load<uint16_t>(p);
    case DType::kU8:
      return load<uint8_t>(p);
    case DType::kI1:
      return load<uint8_t>(p) != 0 ? 1 : 0;
    default:
      return to_int(load_double(dtype, p));
  }
}

void store_double(DType dtype, std::byte* p, double value) {
  switch (dtype) {
    case DType::kF64:
      return store(p, value);
    case DType::kF32:
      return store(p, static_cast<float>(value));
    case DType::kBF16:
      return store(p, float_to_bf16(static_cast<float>(value)));
    case DType::kF16:
      return store(p, float_to_f16(static_cast<float>(value)));
    case DType::kF8E4M3:
      return store(p, float_to_f8e4m3(static_cast<float>(value)));
    case DType::kF8E5M2:
      return store(p, float_to_f8e5m2(static_cast<float>(value)));
    case DType::kI1:
      return store(p, static_cast<uint8_t>(value != 0 ? 1 : 0));
    case DType::kU64:
      if (value >= 0x1p63)
        return store(p, value >= 0x1p64 ? UINT64_MAX : static_cast<uint64_t>(value));
      return store_int(dtype, p, to_int(value));
    default:
      return store_int(dtype, p, to_int(value));
  }
}

void store_int(DType dtype, std::byte* p, int64_t value) {
  if (is_float(dtype)) return store_double(dtype, p, static_cast<double>(value));
  if (dtype == DType::kI1) return store(p, static_cast<uint8_t>(value != 0 ? 1 : 0));
  // The low bytes: little-endian machines only, like the copies of whole tensors to files.
  std::memcpy(p, &value, static_cast<size_t>(size_bytes(dtype)));
}

Tensor Tensor::zeros(DType dtype, Extents extents) {
  Tensor t;
  t.dtype = dtype;
  t.extents = std::move(extents);
  t.data.resize(static_cast<size_t>(t.element_count() * size_bytes(dtype)));
  return t;
}

int64_t Tensor::element_count() const { return hostir::element_count(extents).value_or(0); }

double Tensor::get_double(int64_t index) const {
  return load_double(dtype, data.data() + index * size_bytes(dtype));
}
int64_t Tensor::get_int(int64_t index) const {
  return load_int(dtype, data.data() + index * size_bytes(dtype));
}
void Tensor::set_double(int64_t index, double value) {
  store_double(dtype, data.data() + index * size_bytes(dtype), value);
}
void Tensor::set_int(int64_t index, int64_t value) {
  store_int(dtype, data.data() + index * size_bytes(dtype), value);
}

Tensor converted(const Tensor& tensor, DType dtype) {
  if (tensor.dtype == dtype) return tensor;
  Tensor out = Tensor::zeros(dtype, tensor.extents);
  const int64_t n = tensor.element_count();
  for (int64_t i = 0; i < n; ++i) {
    if (is_float(tensor.dtype) || (tensor.dtype == DType::kU64 && is_float(dtype))) {
      out.set_double(i, tensor.get_double(i));
    } else {
      out.set_int(i, tensor.get_int(i));
    }
  }
  return out;
}

}  // namespace hostir
