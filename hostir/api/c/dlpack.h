// Tensors to and from DLPack's structs.
#pragma once

#include "hostir/api/c/hostir.h"
#include "hostir/ir/tensor.h"
#include "hostir/support/expected.h"

namespace hostir::api {

/// A new managed tensor that owns the contents; its deleter frees it.
DLManagedTensorVersioned* to_dlpack(Tensor tensor);

/// A row-major copy. Errors (kUsage), naming `name`: `dlpack_device` not in host memory,
/// `dlpack_dtype`, `dlpack_shape`.
Expected<Tensor> from_dlpack(const char* name, const DLTensor& tensor);

/// The type of our elements.
DLDataType dlpack_type(DType dtype);

}  // namespace hostir::api
