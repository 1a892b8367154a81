#include "kernels/cpu/reference/reference_support.h"

#include <algorithm>
#include <cstring>

#include "hostir/support/float16.h"
#include "hostir/support/float8.h"

namespace hostir::cpu {
namespace {

template <class T, class Out, class Convert>
void load_as(const std::byte* base, int64_t first, int64_t count, Out* out, Convert convert) {
  const std::byte* from = base + first * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    T element;  // operands need not be aligned
    std::memcpy(&element, from + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    out[i] = convert(element);
  }
}

template <class T, class In, class Convert>
void store_as(std::byte* base, int64_t first, int64_t count, const In* in, Convert convert) {
  std::byte* to = base + first * static_cast<int64_t>(sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    const T element = convert(in[i]);
    std::memcpy(to + i * static_cast<int64_t>(sizeof(T)), &element, sizeof(T));
  }
}

template <class T>
auto as_double = [](T value) { return static_cast<double>(value); };
template <class T>
auto as_int = [](T value) { return static_cast<int64_t>(value); };

}  // namespace

void load_reals(DType dtype, const std::byte* base, int64_t first, int64_t count, double* out) {
  switch (dtype) {
    case DType::kF64:
      return load_as<double>(base, first, count, out, as_double<double>);
    case DType::kF32:
      return load_as<float>(base, first, count, out, as_double<float>);
    case DType::kBF16:
      return load_as<uint16_t>(base, first, count, out,
                               [](uint16_t v) { return as_double<float>(bf16_to_float(v)); });
    case DType::kF16:
      return load_as<uint16_t>(base, first, count, out,
                               [](uint16_t v) { return as_double<float>(f16_to_float(v)); });
    case DType::kF8E4M3:
      return load_as<uint8_t>(base, first, count, out,
                              [](uint8_t v) { return as_double<float>(f8e4m3_to_float(v)); });
    case DType::kF8E5M2:
      return load_as<uint8_t>(base, first, count, out,
                              [](uint8_t v) { return as_double<float>(f8e5m2_to_float(v)); });
    case DType::kI64:
      return load_as<int64_t>(base, first, count, out, as_double<int64_t>);
    case DType::kI32:
      return load_as<int32_t>(base, first, count, out, as_double<int32_t>);
    case DType::kI16:
      return load_as<int16_t>(base, first, count, out, as_double<int16_t>);
    case DType::kI8:
      return load_as<int8_t>(base, first, count, out, as_double<int8_t>);
    case DType::kU64:
      return load_as<uint64_t>(base, first, count, out, as_double<uint64_t>);
    case DType::kU32:
      return load_as<uint32_t>(base, first, count, out, as_double<uint32_t>);
    case DType::kU16:
      return load_as<uint16_t>(base, first, count, out, as_double<uint16_t>);
    case DType::kU8:
    case DType::kI1:
      return load_as<uint8_t>(base, first, count, out, as_double<uint8_t>);
  }
}

void load_ints(DType dtype, const std::byte* base, int64_t first, int64_t count, int64_t* out) {
  switch (dtype) {
    case DType::kI64:
    case DType::kU64:
      return load_as<int64_t>(base, first, count, out, as_int<int64_t>);
    case DType::kI32:
      return load_as<int32_t>(base, first, count, out, as_int<int32_t>);
    case DType::kI16:
      return load_as<int16_t>(base, first, count, out, as_int<int16_t>);
    case DType::kI8:
      return load_as<int8_t>(base, first, count, out, as_int<int8_t>);
    case DType::kU32:
      return load_as<uint32_t>(base, first, count, out, as_int<uint32_t>);
    case DType::kU16:
      return load_as<uint16_t>(base, first, count, out, as_int<uint16_t>);
    case DType::kU8:
      return load_as<uint8_t>(base, first, count, out, as_int<uint8_t>);
    case DType::kI1:
      return load_as<uint8_t>(base, first, count, out, [](uint8_t v) { return int64_t{v != 0}; });
    default:
      for (int64_t i = 0; i < count; ++i) {
        double value = 0;
        load_reals(dtype, base, first + i, 1, &value);
        out[i] = real_to_int(DType::kI64, value);
      }
  }
}

void store_reals(DType dtype, std::byte* base, int64_t first, int64_t count, const double* in) {
  switch (dtype) {
    case DType::kF64:
      return store_as<double>(base, first, count, in, [](double v) { return v; });
    case DType::kF32:
      return store_as<float>(base, first, count, in,
                             [](double v) { return static_cast<float>(v); });
    case DType::kBF16:
      return store_as<uint16_t>(base, first, count, in,
                                [](double v) { return float_to_bf16(static_cast<float>(v)); });
    case DType::kF16:
      return store_as<uint16_t>(base, first, count, in,
                                [](double v) { return float_to_f16(static_cast<float>(v)); });
    case DType::kF8E4M3:
      return store_as<uint8_t>(base, first, count, in,
                               [](double v) { return float_to_f8e4m3(static_cast<float>(v)); });
    case DType::kF8E5M2:
      return store_as<uint8_t>(base, first, count, in,
                               [](double v) { return float_to_f8e5m2(static_cast<float>(v)); });
    default:
      for (int64_t i = 0; i < count; ++i) {
        const int64_t value = real_to_int(dtype, in[i]);
        store_ints(dtype, base, first + i, 1, &value);
      }
  }
}

void store_ints(DType dtype, std::byte* base, int64_t first, int64_t count, const int64_t* in) {
  switch (dtype) {
    case DType::kI64:
    case DType::kU64:
      return store_as<int64_t>(base, first, count, in, [](int64_t v) { return v; });
    case DType::kI32:
    case DType::kU32:
      return store_as<uint32_t>(base, first, count, in,
                                [](int64_t v) { return static_cast<uint32_t>(v); });
    case DType::kI16:
    case DType::kU16:
      return store_as<uint16_t>(base, first, count, in,
                                [](int64_t v) { return static_cast<uint16_t>(v); });
    case DType::kI8:
    case DType::kU8:
      return store_as<uint8_t>(base, first, count, in,
                               [](int64_t v) { return static_cast<uint8_t>(v); });
    case DType::kI1:
      return store_as<uint8_t>(base, first, count, in,
                               [](int64_t v) { return static_cast<uint8_t>(v != 0); });
    default:
      for (int64_t i = 0; i < count; ++i) {
        const auto value = static_cast<double>(in[i]);
        store_reals(dtype, base, first + i, 1, &value);
      }
  }
}

int64_t real_to_int(DType dtype, double value) {
  if (dtype == DType::kI1) return value != 0;
  if (value != value) return 0;
  if (dtype == DType::kU64) {
    if (value >= 0x1p64) return greatest(dtype);
    return value <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  if (value >= 0x1p63) return greatest(dtype);
  if (value <= -0x1p63) return least(dtype);
  return std::clamp(static_cast<int64_t>(value), least(dtype), greatest(dtype));
}

std::vector<double> all_reals(DType dtype, ConstMemory memory, int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  load_reals(dtype, memory.data, 0, count, values.data());
  return values;
}

std::vector<int64_t> all_ints(DType dtype, ConstMemory memory, int64_t count) {
  std::vector<int64_t> values(static_cast<size_t>(count));
  load_ints(dtype, memory.data, 0, count, values.data());
  return values;
}

}  // namespace hostir::cpu
