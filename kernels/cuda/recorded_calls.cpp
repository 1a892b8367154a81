#include "kernels/cuda/recorded_calls.h"

#include <span>
#include <utility>
#include <vector>

#include "hostir/support/hash.h"
#include "kernels/cuda/driver.h"

namespace hostir::cuda {
namespace {

// A capture takes as long as some 20 calls, so what runs once or twice is not captured.
constexpr int kCallsBeforeRecording = 3;
// A program whose pointers always change must not fill the memory.
constexpr size_t kMostEntries = 256;

struct Driver {
  decltype(&cuGraphKernelNodeGetParams) params = nullptr;
  decltype(&cuGraphKernelNodeGetAttribute) attribute = nullptr;
  decltype(&cuLaunchKernelEx) launch = nullptr;

  bool is_complete() const {
    return params != nullptr && attribute != nullptr && launch != nullptr;
  }
};

const Driver& driver() {
  static const Driver found = {
      driver_function<decltype(&cuGraphKernelNodeGetParams)>("cuGraphKernelNodeGetParams"),
      driver_function<decltype(&cuGraphKernelNodeGetAttribute)>("cuGraphKernelNodeGetAttribute"),
      driver_function<decltype(&cuLaunchKernelEx)>("cuLaunchKernelEx")};
  return found;
}

// What a launch must repeat. Priorities and access policies belong to the stream.
constexpr CUlaunchAttributeID kAttributes[] = {
    CU_LAUNCH_ATTRIBUTE_COOPERATIVE, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
    CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE};

bool is_set(CUlaunchAttributeID id, const CUlaunchAttributeValue& value) {
  switch (id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      return value.cooperative != 0;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      return value.clusterDim.x > 0;
    default:
      return value.clusterSchedulingPolicyPreference != CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
  }
}

struct KernelLaunch {
  CUDA_KERNEL_NODE_PARAMS params = {};  // its arguments belong to the graph
  std::vector<CUlaunchAttribute> attributes;
};

// The nodes of a graph without branches, in order; empty if it has branches.
std::vector<CUgraphNode> chain(CUgraph graph) {
  size_t count = 0;
  if (cudaGraphGetRootNodes(graph, nullptr, &count) != cudaSuccess || count != 1) return {};
  CUgraphNode node = nullptr;
  if (cudaGraphGetRootNodes(graph, &node, &count) != cudaSuccess) return {};
  std::vector<CUgraphNode> nodes = {node};
  while (true) {
    size_t followers = 0;
    std::array<CUgraphNode, 1> next = {};
#if CUDART_VERSION >= 13000
    std::array<cudaGraphEdgeData, 1> edge = {};
    if (cudaGraphNodeGetDependentNodes(nodes.back(), nullptr, nullptr, &followers) != cudaSuccess) {
      return {};
    }
    if (followers == 0) return nodes;
    if (followers > 1 || cudaGraphNodeGetDependentNodes(nodes.back(), next.data(), edge.data(),
                                                        &followers) != cudaSuccess) {
      return {};
    }
    if (edge[0].type != cudaGraphDependencyTypeDefault) return {};  // may start before the end
#else
    if (cudaGraphNodeGetDependentNodes(nodes.back(), nullptr, &followers) != cudaSuccess) return {};
    if (followers == 0) return nodes;
    if (followers > 1 ||
        cudaGraphNodeGetDependentNodes(nodes.back(), next.data(), &followers) != cudaSuccess) {
      return {};
    }
#endif
    nodes.push_back(next[0]);
  }
}

}  // namespace

class RecordedCalls::Recording {
 public:
  explicit Recording(cudaGraph_t graph) : graph_(graph) {}
  ~Recording() { static_cast<void>(cudaGraphDestroy(graph_)); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// False if the graph has anything but kernels that follow each other.
  bool read() {
    for (CUgraphNode node : chain(graph_)) {
      cudaGraphNodeType type = {};
      KernelLaunch launch;
      if (cudaGraphNodeGetType(node, &type) != cudaSuccess || type != cudaGraphNodeTypeKernel ||
          driver().params(node, &launch.params) != CUDA_SUCCESS) {
        return false;
      }
      // Either may be launched.
      if (launch.params.func == nullptr) {
        launch.params.func = reinterpret_cast<CUfunction>(launch.params.kern);
      }
      if (launch.params.func == nullptr) return false;
      for (const CUlaunchAttributeID id : kAttributes) {
        CUlaunchAttribute attribute = {};
        attribute.id = id;
        if (driver().attribute(node, id, &attribute.value) != CUDA_SUCCESS) return false;
        if (is_set(id, attribute.value)) launch.attributes.push_back(attribute);
      }
      launches_.push_back(std::move(launch));
    }
    return !launches_.empty();
  }

  cudaError_t launch(Stream stream) const {
    for (const KernelLaunch& l : launches_) {
      CUlaunchConfig config = {};
      config.gridDimX = l.params.gridDimX;
      config.gridDimY = l.params.gridDimY;
      config.gridDimZ = l.params.gridDimZ;
      config.blockDimX = l.params.blockDimX;
      config.blockDimY = l.params.blockDimY;
      config.blockDimZ = l.params.blockDimZ;
      config.sharedMemBytes = l.params.sharedMemBytes;
      config.hStream = stream;
      config.attrs = const_cast<CUlaunchAttribute*>(l.attributes.data());
      config.numAttrs = static_cast<unsigned>(l.attributes.size());
      const CUresult status =
          driver().launch(&config, l.params.func, l.params.kernelParams, l.params.extra);
      if (status != CUDA_SUCCESS) return static_cast<cudaError_t>(status);  // the same numbers
    }
    return cudaSuccess;
  }

 private:
  cudaGraph_t graph_;
  std::vector<KernelLaunch> launches_;
};

RecordedCalls::RecordedCalls() = default;
RecordedCalls::~RecordedCalls() = default;

size_t RecordedCalls::KeyHash::operator()(const Pointers& key) const {
  return hash_of(std::as_bytes(std::span(key)));
}

std::shared_ptr<const RecordedCalls::Recording> RecordedCalls::recording_for(
    const Pointers& pointers, const Call& call) {
  const std::lock_guard lock(mutex_);
  const auto known = entries_.find(pointers);
  if (known == entries_.end() && entries_.size() >= kMostEntries) entries_.clear();
  Entry& entry = known != entries_.end() ? known->second : entries_[pointers];
  if (entry.calls > kCallsBeforeRecording) return entry.recording;
  if (++entry.calls <= kCallsBeforeRecording || !driver().is_complete()) return nullptr;
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess) {
    // Relaxed: other threads may allocate and synchronise meanwhile.
    bool captured = cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess;
    captured = captured && call(stream) == cudaSuccess;
    captured = cudaStreamEndCapture(stream, &graph) == cudaSuccess && captured;
    cudaStreamDestroy(stream);
    if (graph != nullptr) {
      auto recording = std::make_shared<Recording>(graph);
      if (captured && recording->read()) entry.recording = std::move(recording);
    }
  }
  static_cast<void>(cudaGetLastError());  // the library goes on serving what cannot be recorded
  return entry.recording;
}

cudaError_t RecordedCalls::run(const Pointers& pointers, const Call& call, Stream stream) {
  if (const auto recording = recording_for(pointers, call)) return recording->launch(stream);
  return call(stream);
}

}  // namespace hostir::cuda
