#include "kernels/cuda/attention_call.h"

#include <array>
#include <limits>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cuda/cudnn.h"

namespace hostir::cuda {
namespace {

using Extents4 = std::array<int64_t, 4>;

class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    ok_ = cudnn()->create_descriptor(type, &descriptor_) == CUDNN_STATUS_SUCCESS;
  }
  ~Descriptor() {
    if (descriptor_ != nullptr) static_cast<void>(cudnn()->destroy_descriptor(descriptor_));
  }
  Descriptor(Descriptor&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, nullptr)), ok_(other.ok_) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  std::span<const T> values) {
    ok_ = ok_ && cudnn()->set(descriptor_, name, type, static_cast<int64_t>(values.size()),
                              values.data()) == CUDNN_STATUS_SUCCESS;
    return *this;
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                  const T& value) {
    return set(name, type, std::span<const T>(&value, 1));
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& value) {
    return set(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, value.descriptor_);
  }
  /// False if this or an earlier call failed.
  bool finalize() {
    ok_ = ok_ && cudnn()->finalize(descriptor_) == CUDNN_STATUS_SUCCESS;
    return ok_;
  }
  cudnnBackendDescriptor_t get() const { return descriptor_; }

 private:
  cudnnBackendDescriptor_t descriptor_ = nullptr;
  bool ok_ = false;
};

// Identifies the tensors that exist in memory. Tensors inside the graph get numbers from kInside.
enum Uid : int64_t { kQ = 1, kK, kV, kO, kScale, kHidden, kDiagonal, kInside };

Extents4 row_major(const Extents4& extents) {
  return {extents[1] * extents[2] * extents[3], extents[2] * extents[3], extents[3], 1};
}

/// Builds the graph op by op. Tensors are indices into `tensors_`.
class Graph {
 public:
  using Tensor = size_t;

  Tensor in_memory(Uid uid, cudnnDataType_t dtype, const Extents4& extents,
                   const Extents4& strides) {
    return add(uid, dtype, extents, strides, Where::kMemory);
  }
  Tensor number(Uid uid, cudnnDataType_t dtype) {
    return add(uid, dtype, {1, 1, 1, 1}, {1, 1, 1, 1}, Where::kHost);
  }
  Tensor inside(cudnnDataType_t dtype, const Extents4& extents) {
    return add(next_++, dtype, extents, row_major(extents), Where::kInside);
  }

  void product(Tensor a, Tensor b, Tensor c) {
    Descriptor& kind = details_.emplace_back(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    kind.set(CUDNN_ATTR_MATMUL_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    note(kind.finalize());
    Descriptor& op = ops_.emplace_back(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    op.set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, tensors_[a])
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, tensors_[b])
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, tensors_[c])
        .set(CUDNN_ATTR_OPERATION_MATMUL_DESC, kind);
    note(op.finalize());
  }

  void fold(cudnnReduceTensorOp_t with, Tensor x, Tensor y) {
    Descriptor& kind = details_.emplace_back(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    kind.set(CUDNN_ATTR_REDUCTION_OPERATOR, CUDNN_TYPE_REDUCTION_OPERATOR_TYPE, with)
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_TYPE_DATA_TYPE, CUDNN_DATA_FLOAT);
    note(kind.finalize());
    Descriptor& op = ops_.emplace_back(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR);
    op.set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, tensors_[x])
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, tensors_[y])
        .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, kind);
    note(op.finalize());
  }

  struct Pointwise {
    cudnnPointwiseMode_t mode;
    cudnnDataType_t computed = CUDNN_DATA_FLOAT;
    int64_t axis = -1;
  };
  /// y = mode(x..): one operand, two, or select's two and its condition.
  void pointwise(const Pointwise& how, std::span<const Tensor> x, Tensor y) {
    Descriptor& kind = details_.emplace_back(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    kind.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_TYPE_POINTWISE_MODE, how.mode)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_TYPE_DATA_TYPE, how.computed);
    if (how.axis >= 0) kind.set(CUDNN_ATTR_POINTWISE_AXIS, CUDNN_TYPE_INT64, how.axis);
    note(kind.finalize());
    constexpr std::array kOperands = {CUDNN_ATTR_OPERATION_POINTWISE_XDESC,
                                      CUDNN_ATTR_OPERATION_POINTWISE_BDESC,
                                      CUDNN_ATTR_OPERATION_POINTWISE_TDESC};
    Descriptor& op = ops_.emplace_back(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kind)
        .set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, tensors_[y]);
    for (size_t i = 0; i < x.size(); ++i) op.set(kOperands[i], tensors_[x[i]]);
    note(op.finalize());
  }

  bool is_ok() const { return ok_; }
  std::vector<cudnnBackendDescriptor_t> ops() const {
    std::vector<cudnnBackendDescriptor_t> all;
    for (const Descriptor& op : ops_) all.push_back(op.get());
    return all;
  }

 private:
  enum class Where : uint8_t { kMemory, kHost, kInside };

  Tensor add(int64_t uid, cudnnDataType_t dtype, const Extents4& extents, const Extents4& strides,
             Where where) {
    constexpr int64_t kAlignment = 16;
    Descriptor& tensor = tensors_.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    tensor.set(CUDNN_ATTR_TENSOR_DATA_TYPE, CUDNN_TYPE_DATA_TYPE, dtype)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, CUDNN_TYPE_INT64, std::span<const int64_t>(extents))
        .set(CUDNN_ATTR_TENSOR_STRIDES, CUDNN_TYPE_INT64, std::span<const int64_t>(strides))
        .set(CUDNN_ATTR_TENSOR_UNIQUE_ID, CUDNN_TYPE_INT64, uid)
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, CUDNN_TYPE_INT64, kAlignment)
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, CUDNN_TYPE_BOOLEAN, where == Where::kInside)
        .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, CUDNN_TYPE_BOOLEAN, where == Where::kHost);
    note(tensor.finalize());
    return tensors_.size() - 1;
  }
  void note(bool ok) { ok_ = ok_ && ok; }

  std::vector<Descriptor> tensors_;
  std::vector<Descriptor> details_;
  std::vector<Descriptor> ops_;
  int64_t next_ = kInside;
  bool ok_ = true;
};

class Handle final : public AttentionHandle {
 public:
  ~Handle() override {
    if (handle_ != nullptr) static_cast<void>(cudnn()->destroy(handle_));
  }
  bool open() { return cudnn()->create(&handle_) == CUDNN_STATUS_SUCCESS; }
  cudnnHandle_t get() const { return handle_; }
  /// Held while the handle's stream is in use.
  std::mutex& turn() { return turn_; }

 private:
  cudnnHandle_t handle_ = nullptr;
  std::mutex turn_;
};

// The ops of attention, as cuDNN recognises them.
Graph graph_of(const AttentionStep& step) {
  const cudnnDataType_t io = step.dtype == DType::kBF16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_HALF;
  const Heads& k = step.k;
  Graph g;
  const auto q = g.in_memory(kQ, io, step.q.extents, step.q.strides);
  const auto transposed_k =
      g.in_memory(kK, io, {k.extents[0], k.extents[1], k.extents[3], k.extents[2]},
                  {k.strides[0], k.strides[1], k.strides[3], k.strides[2]});
  const auto v = g.in_memory(kV, io, step.v.extents, step.v.strides);
  const auto o = g.in_memory(kO, io, step.o.extents, step.o.strides);
  const Extents4 square = {step.q.extents[0], step.q.extents[1], step.q.extents[2], k.extents[2]};
  const Extents4 column = {square[0], square[1], square[2], 1};

  const auto products = g.inside(CUDNN_DATA_FLOAT, square);
  g.product(q, transposed_k, products);
  auto scores = g.inside(CUDNN_DATA_FLOAT, square);
  g.pointwise({CUDNN_POINTWISE_MUL}, std::array{products, g.number(kScale, CUDNN_DATA_FLOAT)},
              scores);
  if (step.is_causal) {
    auto row = g.inside(CUDNN_DATA_INT32, square);
    g.pointwise({CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, 2}, std::array{scores}, row);
    if (step.diagonal != 0) {
      const auto shifted = g.inside(CUDNN_DATA_INT32, square);
      g.pointwise({CUDNN_POINTWISE_ADD, CUDNN_DATA_INT32},
                  std::array{row, g.number(kDiagonal, CUDNN_DATA_INT32)}, shifted);
      row = shifted;
    }
    const auto key = g.inside(CUDNN_DATA_INT32, square);
    g.pointwise({CUDNN_POINTWISE_GEN_INDEX, CUDNN_DATA_INT32, 3}, std::array{scores}, key);
    const auto visible = g.inside(CUDNN_DATA_BOOLEAN, square);
    g.pointwise({CUDNN_POINTWISE_CMP_GE, CUDNN_DATA_BOOLEAN}, std::array{row, key}, visible);
    const auto masked = g.inside(CUDNN_DATA_FLOAT, square);
    g.pointwise({CUDNN_POINTWISE_BINARY_SELECT},
                std::array{scores, g.number(kHidden, CUDNN_DATA_FLOAT), visible}, masked);
    scores = masked;
  }
  const auto largest = g.inside(CUDNN_DATA_FLOAT, column);
  g.fold(CUDNN_REDUCE_TENSOR_MAX, scores, largest);
  const auto lowered = g.inside(CUDNN_DATA_FLOAT, square);
  g.pointwise({CUDNN_POINTWISE_SUB}, std::array{scores, largest}, lowered);
  const auto powers = g.inside(CUDNN_DATA_FLOAT, square);
  g.pointwise({CUDNN_POINTWISE_EXP}, std::array{lowered}, powers);
  const auto sum = g.inside(CUDNN_DATA_FLOAT, column);
  g.fold(CUDNN_REDUCE_TENSOR_ADD, powers, sum);
  // cuDNN only takes a softmax that also has the logarithm of the sum, which backward passes use.
  const auto logarithm = g.inside(CUDNN_DATA_FLOAT, column);
  g.pointwise({CUDNN_POINTWISE_LOG}, std::array{sum}, logarithm);
  g.pointwise({CUDNN_POINTWISE_ADD}, std::array{largest, logarithm},
              g.inside(CUDNN_DATA_FLOAT, column));
  const auto weights = g.inside(io, square);
  g.pointwise({CUDNN_POINTWISE_DIV}, std::array{powers, sum}, weights);
  g.product(weights, v, o);
  return g;
}

// The first of cuDNN's proposals that it can build.
std::optional<Descriptor> plan_of(const Graph& graph, cudnnHandle_t handle) {
  if (!graph.is_ok()) return std::nullopt;
  const std::vector<cudnnBackendDescriptor_t> ops = graph.ops();
  Descriptor all(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
  all.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, CUDNN_TYPE_HANDLE, handle)
      .set(CUDNN_ATTR_OPERATIONGRAPH_OPS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
           std::span<const cudnnBackendDescriptor_t>(ops));
  if (!all.finalize()) return std::nullopt;
  Descriptor heuristic(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristic.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, all)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, CUDNN_HEUR_MODE_A);
  if (!heuristic.finalize()) return std::nullopt;
  int64_t count = 0;
  if (cudnn()->get(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR, 0,
                   &count, nullptr) != CUDNN_STATUS_SUCCESS) {
    return std::nullopt;
  }
  std::vector<Descriptor> configs;
  std::vector<cudnnBackendDescriptor_t> pointers;
  for (int64_t i = 0; i < count; ++i) {
    pointers.push_back(configs.emplace_back(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR).get());
  }
  if (count == 0 ||
      cudnn()->get(heuristic.get(), CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                   count, &count, pointers.data()) != CUDNN_STATUS_SUCCESS) {
    return std::nullopt;
  }
  for (int64_t i = 0; i < count; ++i) {
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, handle)
        .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configs[static_cast<size_t>(i)]);
    if (plan.finalize()) return plan;
  }
  return std::nullopt;
}

class Call final : public AttentionCall {
 public:
  Call(const AttentionStep& step, std::shared_ptr<Handle> handle, Descriptor plan,
       int64_t workspace_bytes)
      : handle_(std::move(handle)),
        plan_(std::move(plan)),
        offsets_{step.q.offset, step.k.offset, step.v.offset, step.o.offset},
        element_bytes_(size_bytes(step.dtype)),
        scale_(static_cast<float>(step.scale)),
        diagonal_(static_cast<int32_t>(step.diagonal)),
        is_causal_(step.is_causal),
        workspace_bytes_(workspace_bytes) {}

  int64_t workspace_bytes() const override { return workspace_bytes_; }

  int run(const Pointers& pointers, void* workspace, Stream stream) const override {
    const auto moved = [&](const std::byte* base, size_t i) {
      return const_cast<std::byte*>(base + offsets_[i] * element_bytes_);
    };
    float scale = scale_;
    float hidden = std::numeric_limits<float>::lowest();
    int32_t diagonal = diagonal_;
    std::vector<int64_t> uids = {kQ, kK, kV, kO, kScale};
    std::vector<void*> data = {moved(pointers.q, 0), moved(pointers.k, 1), moved(pointers.v, 2),
                               moved(pointers.o, 3), &scale};
    if (is_causal_) {
      uids.push_back(kHidden);
      data.push_back(&hidden);
      if (diagonal != 0) {
        uids.push_back(kDiagonal);
        data.push_back(&diagonal);
      }
    }
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, CUDNN_TYPE_INT64, std::span<const int64_t>(uids))
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR,
             std::span<void* const>(data))
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, workspace);
    if (!pack.finalize()) return cudaErrorInvalidValue;
    const std::lock_guard lock(handle_->turn());
    const bool done =
        cudnn()->set_stream(handle_->get(), stream) == CUDNN_STATUS_SUCCESS &&
        cudnn()->execute(handle_->get(), plan_.get(), pack.get()) == CUDNN_STATUS_SUCCESS;
    return done ? cudaSuccess : cudaErrorLaunchFailure;
  }

 private:
  std::shared_ptr<Handle> handle_;
  Descriptor plan_;
  std::array<int64_t, 4> offsets_;
  int64_t element_bytes_;
  float scale_;
  int32_t diagonal_;
  bool is_causal_;
  int64_t workspace_bytes_;
};

bool has_aligned_rows(const Heads& heads) {
  constexpr int64_t kElements = 8;  // 16 bytes of 16-bit floats
  int64_t all = heads.offset;
  for (size_t d = 0; d < 3; ++d) {
    if (heads.extents[d] > 1) all |= heads.strides[d];
  }
  return all % kElements == 0;
}

}  // namespace

Expected<std::shared_ptr<AttentionHandle>> AttentionHandle::create() {
  if (!cudnn()) return tl::unexpected(cudnn().error());
  auto handle = std::make_shared<Handle>();
  if (!handle->open()) {
    return fail(ErrorKind::kRuntime, "cuda_runtime",
                "cuDNN cannot create a handle on this device; is its memory full?");
  }
  return std::shared_ptr<AttentionHandle>(std::move(handle));
}

std::shared_ptr<const AttentionCall> AttentionCall::choose(
    const AttentionStep& step, std::shared_ptr<AttentionHandle> handle) {
  for (const Heads* heads : {&step.q, &step.k, &step.v, &step.o}) {
    if (!has_aligned_rows(*heads)) return nullptr;
  }
  auto opened = std::static_pointer_cast<Handle>(std::move(handle));
  const std::lock_guard lock(opened->turn());
  // The stream of the last call may be gone.
  if (cudnn()->set_stream(opened->get(), nullptr) != CUDNN_STATUS_SUCCESS) return nullptr;
  std::optional<Descriptor> plan = plan_of(graph_of(step), opened->get());
  if (!plan) return nullptr;
  int64_t bytes = 0;
  int64_t count = 0;
  if (cudnn()->get(plan->get(), CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, CUDNN_TYPE_INT64, 1,
                   &count, &bytes) != CUDNN_STATUS_SUCCESS ||
      count != 1) {
    return nullptr;
  }
  return std::make_shared<Call>(step, opened, std::move(*plan), bytes);
}

}  // namespace hostir::cuda
