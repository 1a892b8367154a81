#include "kernels/cuda/product_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace hostir::cuda {
namespace {

constexpr int kFirstProposals = 16;
constexpr int kSearchedProposals = 64;

cudaDataType_t data_type(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return CUDA_R_64F;
    case DType::kBF16:
      return CUDA_R_16BF;
    case DType::kF16:
      return CUDA_R_16F;
    default:
      return CUDA_R_32F;
  }
}

// A row-major matrix as column-major memory: our rows are the library's columns.
struct ColumnsFirst {
  bool is_transposed = false;
  uint64_t rows = 0;
  uint64_t columns = 0;
  int64_t lead = 0;
};
ColumnsFirst columns_first(const Matrix& matrix, int64_t rows, int64_t columns) {
  const auto r = static_cast<uint64_t>(rows);
  const auto c = static_cast<uint64_t>(columns);
  if (matrix.column_stride == 1 && matrix.row_stride >= columns) {
    return {false, c, r, std::max(matrix.row_stride, columns)};
  }
  return {true, r, c, std::max(matrix.column_stride, rows)};
}

std::string key_of(const ProductStep& step, const CompilerOptions& options, uint32_t alignment,
                   const std::string& device) {
  const auto matrix = [](const Matrix& m) {
    return fmt::format("{}:{}:{}:{}", m.buffer >= 0, m.row_stride, m.column_stride,
                       fmt::join(m.batch_strides, ","));
  };
  return fmt::format(
      "product, timed with neighbours {} {} [{}] {}x{}x{} a{} b{} c{} d{} bias{} act{} search{} "
      "tf32{} "
      "align{}",
      device, name(step.dtype), fmt::join(step.batch, ","), step.m, step.n, step.k, matrix(step.a),
      matrix(step.b), matrix(step.c), matrix(step.d), step.bias >= 0,
      static_cast<int>(step.activation), static_cast<int>(options.search), options.allow_tf32,
      alignment);
}

struct StoredChoice {
  cublasLtMatmulAlgo_t algorithm;
  int64_t workspace_bytes;
};

}  // namespace

bool ProductCall::describe(const ProductStep& step, const CompilerOptions& options) {
  const CublasLt& lt = *cublas_lt();
  step_ = step;
  const bool wide = step.dtype == DType::kF64;
  const bool tf32 = step.dtype == DType::kF32 && options.allow_tf32;
  const cublasComputeType_t compute = wide   ? CUBLAS_COMPUTE_64F
                                      : tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                             : CUBLAS_COMPUTE_32F;
  bool ok = lt.init_desc(&desc_, sizeof desc_, compute, wide ? CUDA_R_64F : CUDA_R_32F) ==
            CUBLAS_STATUS_SUCCESS;
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    ok = ok && lt.set_desc(&desc_, attribute, &value, sizeof value) == CUBLAS_STATUS_SUCCESS;
  };
  const ColumnsFirst left = columns_first(step.b, step.k, step.n);
  const ColumnsFirst right = columns_first(step.a, step.m, step.k);
  const int32_t trans_left = left.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const int32_t trans_right = right.is_transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(CUBLASLT_MATMUL_DESC_TRANSA, trans_left);
  set(CUBLASLT_MATMUL_DESC_TRANSB, trans_right);
  using Activation = ProductStep::Activation;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  if (step.activation == Activation::kRelu) epilogue |= CUBLASLT_EPILOGUE_RELU;
  if (step.activation == Activation::kGelu) epilogue |= CUBLASLT_EPILOGUE_GELU;
  if (step.bias >= 0) epilogue |= CUBLASLT_EPILOGUE_BIAS;
  if (epilogue != CUBLASLT_EPILOGUE_DEFAULT) epilogue &= ~uint32_t{CUBLASLT_EPILOGUE_DEFAULT};
  const auto chosen = static_cast<cublasLtEpilogue_t>(epilogue);
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, chosen);

  const cudaDataType_t type = data_type(step.dtype);
  outer_batch_ = step.batch;
  int32_t count = 1;
  if (!outer_batch_.empty()) {
    count = static_cast<int32_t>(outer_batch_.back());
    outer_batch_.pop_back();
  }
  const auto layout = [&](cublasLtMatrixLayoutOpaque_t& into, const ColumnsFirst& shape,
                          const Matrix& matrix) {
    ok = ok && lt.init_layout(&into, sizeof into, type, shape.rows, shape.columns, shape.lead) ==
                   CUBLAS_STATUS_SUCCESS;
    if (step.batch.empty()) return;
    const int64_t stride = matrix.batch_strides.back();
    ok = ok && lt.set_layout(&into, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count) ==
                   CUBLAS_STATUS_SUCCESS;
    ok = ok && lt.set_layout(&into, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride,
                             sizeof stride) == CUBLAS_STATUS_SUCCESS;
  };
  const ColumnsFirst out{false, static_cast<uint64_t>(step.n), static_cast<uint64_t>(step.m),
                         std::max(step.d.row_stride, step.n)};
  const ColumnsFirst in{false, out.rows, out.columns, std::max(step.c.row_stride, step.n)};
  layout(left_, left, step.b);
  layout(right_, right, step.a);
  layout(out_, out, step.d);
  if (step.c.buffer >= 0) {
    layout(in_, in, step.c);
  } else {
    in_ = out_;
  }
  return ok;
}

std::optional<ProductCall> ProductCall::choose(const ProductStep& step,
                                               const ProductSetting& setting, uint32_t alignment) {
  const CublasLt& lt = *cublas_lt();
  ProductCall call;
  if (!call.describe(step, setting.options)) return std::nullopt;
  const std::string key = key_of(step, setting.options, alignment, setting.device);
  if (const auto stored = setting.cache.read(key);
      stored && stored->size() == sizeof(StoredChoice)) {
    StoredChoice choice;
    std::memcpy(&choice, stored->data(), sizeof choice);
    cublasLtMatmulHeuristicResult_t result = {};
    if (lt.check_algorithm(setting.handle, &call.desc_, &call.left_, &call.right_, &call.in_,
                           &call.out_, &choice.algorithm, &result) == CUBLAS_STATUS_SUCCESS &&
        static_cast<int64_t>(result.workspaceSize) <= choice.workspace_bytes) {
      call.algorithm_ = choice.algorithm;
      call.workspace_bytes_ = choice.workspace_bytes;
      return call;
    }
  }
  cublasLtMatmulPreferenceOpaque_t preference = {};
  lt.init_preference(&preference, sizeof preference);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    lt.set_preference(&preference, attribute, &value, sizeof value);
  };
  const bool is_timed = setting.options.search == CompilerOptions::Search::kTimed;
  const int proposed = is_timed ? kSearchedProposals : kFirstProposals;
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, most_workspace_bytes(setting.options.search));
  // Partial sums of a split k are added in f32.
  const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, schemes);
  const auto aligned = [&](const Matrix& matrix) {
    uint32_t bytes = alignment;
    int64_t offset = matrix.offset * size_bytes(step.dtype);
    for (size_t d = 0; d + 1 < matrix.batch_strides.size(); ++d) {
      offset |= matrix.batch_strides[d] * size_bytes(step.dtype);
    }
    while (bytes > 1 && offset % bytes != 0) bytes /= 2;
    return bytes;
  };
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, aligned(step.b));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, aligned(step.a));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, aligned(step.c.buffer >= 0 ? step.c : step.d));
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, aligned(step.d));
  std::vector<cublasLtMatmulHeuristicResult_t> proposals(static_cast<size_t>(proposed));
  int found = 0;
  const auto status =
      lt.heuristic(setting.handle, &call.desc_, &call.left_, &call.right_, &call.in_, &call.out_,
                   &preference, proposed, proposals.data(), &found);
  proposals.resize(static_cast<size_t>(std::max(0, found)));
  std::erase_if(proposals, [](const auto& p) { return p.state != CUBLAS_STATUS_SUCCESS; });
  if (status != CUBLAS_STATUS_SUCCESS || proposals.empty()) return std::nullopt;
  call.algorithm_ = proposals[0].algo;
  call.workspace_bytes_ = static_cast<int64_t>(proposals[0].workspaceSize);
  // Calls with unaligned operands are rare and slow: not worth the time of a wide search.
  if (is_timed) call.choose_by_time(setting, proposals, alignment >= 16);
  StoredChoice choice{call.algorithm_, call.workspace_bytes_};
  setting.cache.write(key, {reinterpret_cast<const char*>(&choice), sizeof choice});
  return call;
}

cublasStatus_t ProductCall::run(cublasLtHandle_t handle, const Pointers& pointers, void* workspace,
                                Stream stream) const {
  const CublasLt& lt = *cublas_lt();
  cublasLtMatmulDescOpaque_t desc = desc_;
  const int64_t size = size_bytes(step_.dtype);
  if (step_.bias >= 0) {
    const void* bias = pointers.bias + step_.bias_offset * size;
    lt.set_desc(&desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
  }
  const double wide[2] = {1, 0};
  const float narrow[2] = {1, 0};
  const bool is_wide = step_.dtype == DType::kF64;
  const void* one = is_wide ? static_cast<const void*>(&wide[0]) : &narrow[0];
  const void* zero = is_wide ? static_cast<const void*>(&wide[1]) : &narrow[1];
  int64_t calls = 1;
  for (const int64_t b : outer_batch_) calls *= b;
  for (int64_t i = 0; i < calls; ++i) {
    const auto at = [&](const Matrix& matrix) {
      int64_t offset = matrix.offset;
      int64_t rest = i;
      for (size_t d = outer_batch_.size(); d > 0; --d) {
        offset += rest % outer_batch_[d - 1] * matrix.batch_strides[d - 1];
        rest /= outer_batch_[d - 1];
      }
      return offset * size;
    };
    std::byte* out = pointers.d + at(step_.d);
    const std::byte* in = pointers.c != nullptr ? pointers.c + at(step_.c) : out;
    const cublasStatus_t status =
        lt.matmul(handle, &desc, one, pointers.b + at(step_.b), &left_, pointers.a + at(step_.a),
                  &right_, pointers.c != nullptr ? one : zero, in, &in_, out, &out_, &algorithm_,
                  workspace, static_cast<size_t>(workspace_bytes_), stream);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace hostir::cuda
