#include "hostir/api/c/dlpack.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

namespace hostir::api {

namespace {

struct TypePair {
  DType dtype;
  DLDataType dlpack;
};

constexpr TypePair kTypes[] = {
    {DType::kF64, {kDLFloat, 64, 1}},
    {DType::kF32, {kDLFloat, 32, 1}},
    {DType::kBF16, {kDLBfloat, 16, 1}},
    {DType::kF16, {kDLFloat, 16, 1}},
    {DType::kF8E4M3, {kDLFloat8_e4m3fn, 8, 1}},
    {DType::kF8E5M2, {kDLFloat8_e5m2, 8, 1}},
    {DType::kI64, {kDLInt, 64, 1}},
    {DType::kI32, {kDLInt, 32, 1}},
    {DType::kI16, {kDLInt, 16, 1}},
    {DType::kI8, {kDLInt, 8, 1}},
    {DType::kU64, {kDLUInt, 64, 1}},
    {DType::kU32, {kDLUInt, 32, 1}},
    {DType::kU16, {kDLUInt, 16, 1}},
    {DType::kU8, {kDLUInt, 8, 1}},
    {DType::kI1, {kDLBool, 8, 1}},
};

/// The storage that a managed tensor points into.
struct Owner {
  DLManagedTensorVersioned managed{};
  Tensor tensor;
  Extents strides;
};

void end(DLManagedTensorVersioned* self) {
  if (self) delete static_cast<Owner*>(self->manager_ctx);
}

Extents row_major_strides(const Extents& extents) {
  Extents out(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) out[d - 1] = out[d] * std::max<int64_t>(extents[d], 1);
  return out;
}

std::optional<DType> dtype_of(const DLDataType& type) {
  for (const TypePair& pair : kTypes) {
    if (pair.dlpack.code == type.code && pair.dlpack.bits == type.bits && type.lanes == 1)
      return pair.dtype;
  }
  return std::nullopt;
}

// Dimension by dimension; the last one is copied at once where it has no gaps.
void copy_strided(const std::byte* source, const DLTensor& from, const int64_t* strides,
                  int32_t dim, int64_t element_bytes, std::byte*& target) {
  if (dim == from.ndim) {
    std::memcpy(target, source, static_cast<size_t>(element_bytes));
    target += element_bytes;
    return;
  }
  if (dim + 1 == from.ndim && strides[dim] == 1) {
    std::memcpy(target, source, static_cast<size_t>(from.shape[dim] * element_bytes));
    target += from.shape[dim] * element_bytes;
    return;
  }
  for (int64_t i = 0; i < from.shape[dim]; ++i) {
    copy_strided(source + i * strides[dim] * element_bytes, from, strides, dim + 1, element_bytes,
                 target);
  }
}

}  // namespace

DLDataType dlpack_type(DType dtype) {
  for (const TypePair& pair : kTypes) {
    if (pair.dtype == dtype) return pair.dlpack;
  }
  return {};
}

DLManagedTensorVersioned* to_dlpack(Tensor tensor) {
  auto owner = std::make_unique<Owner>();
  owner->tensor = std::move(tensor);
  owner->strides = row_major_strides(owner->tensor.extents);
  DLManagedTensorVersioned& managed = owner->managed;
  managed.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed.manager_ctx = owner.get();
  managed.deleter = end;
  managed.flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  DLTensor& out = managed.dl_tensor;
  out.data = owner->tensor.data.empty() ? nullptr : owner->tensor.data.data();
  out.device = {kDLCPU, 0};
  out.ndim = static_cast<int32_t>(owner->tensor.extents.size());
  out.dtype = dlpack_type(owner->tensor.dtype);
  out.shape = owner->tensor.extents.data();
  out.strides = owner->strides.data();
  return &owner.release()->managed;
}

Expected<Tensor> from_dlpack(const char* name, const DLTensor& tensor) {
  if (tensor.device.device_type != kDLCPU && tensor.device.device_type != kDLCUDAHost) {
    return fail(ErrorKind::kUsage, "dlpack_device",
                fmt::format("input %{} is on a device of DLPack type {}; copy it to host memory",
                            name, static_cast<int>(tensor.device.device_type)));
  }
  const std::optional<DType> dtype = dtype_of(tensor.dtype);
  if (!dtype) {
    return fail(ErrorKind::kUsage, "dlpack_dtype",
                fmt::format("input %{} has the DLPack type code {}, {} bits, {} lanes, which no "
                            "element type of a program has",
                            name, tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes));
  }
  constexpr int32_t kMaxDims = 64;
  if (tensor.ndim < 0 || tensor.ndim > kMaxDims || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    return fail(ErrorKind::kUsage, "dlpack_shape",
                fmt::format("input %{} has {} dimensions{}; 0 to {} with a shape can be read", name,
                            tensor.ndim, tensor.shape ? "" : " and no shape", kMaxDims));
  }
  Extents extents;
  int64_t bytes = size_bytes(*dtype);
  for (int32_t d = 0; d < tensor.ndim; ++d) {
    extents.push_back(tensor.shape[d]);
    if (extents.back() >= 0 && !__builtin_mul_overflow(bytes, extents.back(), &bytes)) continue;
    return fail(ErrorKind::kUsage, "dlpack_shape",
                fmt::format("input %{} has a dimension {} of size {}", name, d, extents.back()));
  }
  Tensor out = Tensor::zeros(*dtype, extents);
  if (bytes == 0) return out;
  if (tensor.data == nullptr) {
    return fail(ErrorKind::kUsage, "dlpack_shape",
                fmt::format("input %{} has {} bytes, but no data", name, bytes));
  }
  const Extents plain = row_major_strides(extents);
  const int64_t* strides = tensor.strides ? tensor.strides : plain.data();
  std::byte* target = out.data.data();
  copy_strided(static_cast<const std::byte*>(tensor.data) + tensor.byte_offset, tensor, strides, 0,
               size_bytes(*dtype), target);
  if (*dtype == DType::kI1) {
    for (std::byte& b : out.data) b = b == std::byte{0} ? std::byte{0} : std::byte{1};
  }
  return out;
}

}  // namespace hostir::api
