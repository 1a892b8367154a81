// The real device: the CUDA runtime, our exchange kernels, and the kernels of kernels/cuda.
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>

#include "interp/cuda/cuda_api.h"
#include "interp/cuda/device.h"
#include "interp/cuda/event_clock.h"
#include "interp/cuda/exchange_kernels.h"
#include "interp/cuda/host_kernel.h"
#include "interp/cuda/launch_thread.h"
#include "kernels/cuda/kernel.h"

namespace hostir::cuda {

namespace {

cudaStream_t stream_of(StreamHandle handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t event_of(EventHandle handle) { return static_cast<cudaEvent_t>(handle); }

class CudaDevice;

/// A generated kernel or a cuBLASLt call.
class GeneratedKernel final : public DeviceKernel {
 public:
  GeneratedKernel(CudaDevice& device, std::shared_ptr<const CompiledKernel> kernel)
      : device_(device), kernel_(std::move(kernel)) {}
  void launch(StreamHandle stream, std::span<const void* const> in, std::span<void* const> out,
              void* scratch) const override;
  int64_t scratch_bytes() const override {
    return kernel_->workspace_bytes(CompiledKernel::InPlace::kYes);
  }
  std::string description() const override {
    std::string out = kernel_->summary();
    for (const LaunchDescription& d : kernel_->describe()) {
      if (d.grid == 0) continue;
      out += fmt::format("; {} <<<{}, {}>>> {} registers, {} B shared, occupancy {:.2f}", d.name,
                         d.grid, d.block, d.registers, d.shared_bytes, d.occupancy);
    }
    return out;
  }

 private:
  CudaDevice& device_;
  std::shared_ptr<const CompiledKernel> kernel_;
};

/// A kernel that the generator does not support: operands are copied to the host and results back,
/// in stream order.
class BorrowedHostKernel final : public DeviceKernel {
 public:
  BorrowedHostKernel(CudaDevice& device, std::shared_ptr<HostKernel> kernel, std::string why)
      : device_(device), kernel_(std::move(kernel)), why_(std::move(why)) {}
  void launch(StreamHandle stream, std::span<const void* const> in, std::span<void* const> out,
              void* scratch) const override;
  int64_t scratch_bytes() const override { return 0; }
  bool can_be_captured() const override { return false; }
  std::string description() const override { return kernel_->description() + " (" + why_ + ")"; }

 private:
  CudaDevice& device_;
  std::shared_ptr<HostKernel> kernel_;
  std::string why_;
};

class CudaGraph final : public DeviceGraph {
 public:
  CudaGraph(CudaDevice& device, cudaGraphExec_t graph) : device_(device), graph_(graph) {}
  ~CudaGraph() override;
  void launch(StreamHandle stream) const override;
  void launch_soon(StreamHandle stream) const override;

 private:
  CudaDevice& device_;
  cudaGraphExec_t graph_;
};

class CudaDevice final : public Device {
 public:
  static Expected<std::unique_ptr<Device>> open(int index, const RunClock& clock,
                                                const CudaDeviceOptions& options) {
    std::unique_ptr<CudaDevice> out(new CudaDevice(index, clock));
    cudaDeviceProp properties{};
    if (const auto status = cudaGetDeviceProperties(&properties, index); status != cudaSuccess) {
      return cuda_error("cudaGetDeviceProperties", status);
    }
    out->name_ = properties.name;
    out->memory_bytes_ = static_cast<int64_t>(properties.totalGlobalMem);
    out->multiprocessors_ = properties.multiProcessorCount;
    out->capability_ = fmt::format("{}.{}", properties.major, properties.minor);
    for (const char byte : properties.uuid.bytes) {
      out->identity_ += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    }
    HOSTIR_TRY(out->start());
    // If they cannot be loaded, the first collective says so.
    if (load_exchange_kernels() != cudaSuccess) static_cast<void>(cudaGetLastError());
    CompilerOptions compiler_options;
    if (options.timed_products) compiler_options.search = CompilerOptions::Search::kTimed;
    if (options.exact_epilogues) compiler_options.epilogues = CompilerOptions::Epilogues::kExact;
    auto compiler = KernelCompiler::create(index, compiler_options);
    if (compiler) {
      out->compiler_ = std::move(*compiler);
    } else {
      out->no_compiler_ = compiler.error().message();
    }
    return out;
  }

  ~CudaDevice() override {
    use();
    for (cudaEvent_t event : events_) cudaEventDestroy(event);
    for (cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }

  int index() const override { return index_; }
  std::string name() const override { return name_; }
  std::string identity() const override { return identity_; }
  int64_t memory_bytes() const override { return memory_bytes_; }
  bool is_measured_by_cupti() const override { return true; }

  StreamHandle make_stream() override {
    use();
    cudaStream_t stream = nullptr;
    check("cudaStreamCreate", cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (stream != nullptr) streams_.push_back(stream);
    return stream;
  }
  EventHandle take_event() override {
    if (free_events_.empty()) {
      use();
      cudaEvent_t event = nullptr;
      check("cudaEventCreate", cudaEventCreate(&event));
      if (event == nullptr) return nullptr;
      events_.push_back(event);
      return event;
    }
    cudaEvent_t event = free_events_.back();
    free_events_.pop_back();
    return event;
  }
  void give_back(EventHandle event) override {
    if (event != nullptr) free_events_.push_back(event_of(event));
  }
  void record(EventHandle event, StreamHandle stream) override {
    use();
    check("cudaEventRecord", cudaEventRecord(event_of(event), stream_of(stream)));
  }
  void wait(StreamHandle stream, EventHandle event) override {
    use();
    check("cudaStreamWaitEvent", cudaStreamWaitEvent(stream_of(stream), event_of(event), 0));
  }
  bool has_happened(EventHandle event) override {
    const cudaError_t status = cudaEventQuery(event_of(event));
    if (status == cudaErrorNotReady) return false;
    check("a kernel or copy", status);
    return status == cudaSuccess;
  }
  int64_t time_ns(EventHandle event) override {
    use();
    int64_t time = 0;
    const cudaError_t status = event_clock_.time_ns(event_of(event), time);
    check("cudaEventElapsedTime", status);
    return status == cudaSuccess ? time : clock_.now_ns();
  }

  void* allocate(int64_t bytes, StreamHandle stream) override {
    if (capturing_) return nullptr;
    use();
    void* memory = nullptr;
    cudaStream_t on = stream == nullptr ? own_stream_ : stream_of(stream);
    const cudaError_t status =
        cudaMallocAsync(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 1)), on);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());  // clear the non-sticky error
      return nullptr;
    }
    check("cudaMallocAsync", status);
    if (stream == nullptr) check("cudaStreamSynchronize", cudaStreamSynchronize(on));
    return memory;
  }
  void release(void* memory, StreamHandle stream) override {
    use();
    if (memory == nullptr) return;
    cudaStream_t on = stream == nullptr ? own_stream_ : stream_of(stream);
    check("cudaFreeAsync", cudaFreeAsync(memory, on));
  }
  void trim() override {
    synchronize();
    cudaMemPool_t pool = nullptr;
    check("cudaDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool(&pool, index_));
    check("cudaMemPoolTrimTo", cudaMemPoolTrimTo(pool, 0));
  }
  void upload(void* to, const std::byte* from, int64_t bytes) override {
    transfer(to, from, bytes, cudaMemcpyHostToDevice);
  }
  void download(std::byte* to, const void* from, int64_t bytes) override {
    transfer(to, from, bytes, cudaMemcpyDeviceToHost);
  }
  void finish_launches() override {
    if (launch_thread_ != nullptr) launch_thread_->finish();
  }
  // Its own streams only: other runs in this process may use the device, and the driver would make
  // them wait as well.
  void synchronize() override {
    use();
    for (cudaStream_t stream : streams_) {
      check("cudaStreamSynchronize", cudaStreamSynchronize(stream));
    }
  }

  void move(std::span<const Move> moves, StreamHandle stream) override {
    use();
    check("moves", enqueue_moves(moves, stream_of(stream)));
  }
  void fold(const Fold& fold, StreamHandle stream) override {
    use();
    check("fold", enqueue_fold(fold, multiprocessors_, stream_of(stream)));
  }
  // Streams allocate from the default pool, which has access rights of its own.
  bool reach(Device& other) override {
    int can = 0;
    const int index = other.index();
    if (cudaDeviceCanAccessPeer(&can, index_, index) != cudaSuccess || can == 0) {
      static_cast<void>(cudaGetLastError());
      return false;
    }
    cudaMemPool_t pool = nullptr;
    cudaMemAccessDesc access{};
    access.location = {cudaMemLocationTypeDevice, index_};
    access.flags = cudaMemAccessFlagsProtReadWrite;
    cudaError_t status = cudaDeviceGetDefaultMemPool(&pool, index);
    if (status == cudaSuccess) status = cudaMemPoolSetAccess(pool, &access, 1);
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
    return status == cudaSuccess;
  }
  void pull(void* to, const void* from, int64_t bytes, StreamHandle stream) override {
    use();
    check("a copy between devices", cudaMemcpyAsync(to, from, static_cast<size_t>(bytes),
                                                    cudaMemcpyDeviceToDevice, stream_of(stream)));
  }
  void copy(const StridedCopy& copy, StreamHandle stream) override {
    use();
    check("copy", enqueue_copy(copy, stream_of(stream)));
  }
  void delay(int64_t ns, StreamHandle stream) override {
    use();
    check("delay", enqueue_delay(ns, stream_of(stream)));
  }

  // Relaxed: other threads of the process may allocate and synchronise meanwhile.
  void begin_capture(StreamHandle stream) override {
    use();
    capturing_ = true;
    check("cudaStreamBeginCapture",
          cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeRelaxed));
  }
  Expected<std::unique_ptr<DeviceGraph>> end_capture(StreamHandle stream) override {
    use();
    capturing_ = false;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    cudaError_t status = cudaStreamEndCapture(stream_of(stream), &graph);
    if (status == cudaSuccess) status = cudaGraphInstantiate(&exec, graph, 0);
    if (graph != nullptr) cudaGraphDestroy(graph);
    if (status != cudaSuccess) {
      static_cast<void>(cudaGetLastError());  // clear the non-sticky error
      return fail(ErrorKind::kRuntime, "cuda_graph", cudaGetErrorString(status));
    }
    return std::make_unique<CudaGraph>(*this, exec);
  }

  // What the generator does not support runs on the host, and the log says so.
  Expected<std::shared_ptr<const DeviceKernel>> compile(
      const kernels::BoundKernel& kernel) override {
    use();
    std::string why = no_compiler_;
    if (compiler_ != nullptr) {
      auto made = compiler_->compile(kernel);
      if (made) return std::make_shared<const GeneratedKernel>(*this, std::move(*made));
      if (made.error().diagnostics.front().id != "kernel_unsupported") {
        return tl::unexpected(made.error());
      }
      why = made.error().message();
    }
    HOSTIR_ASSIGN_OR_RETURN(auto host, HostKernel::create(kernel));
    return std::make_shared<const BorrowedHostKernel>(*this, std::move(host), why);
  }

  const Error* failure() override {
    check("cudaGraphLaunch", graph_status_.load(std::memory_order_acquire));
    if (!failure_) check("the device", cudaPeekAtLastError());
    return failure_ ? &*failure_ : nullptr;
  }
  std::vector<std::pair<std::string, std::string>> properties() const override {
    int driver = 0;
    int runtime = 0;
    static_cast<void>(cudaDriverGetVersion(&driver));
    static_cast<void>(cudaRuntimeGetVersion(&runtime));
    return {{"compute capability", capability_},
            {"multiprocessors", std::to_string(multiprocessors_)},
            {"memory_bytes", std::to_string(memory_bytes_)},
            {"driver", std::to_string(driver)},
            {"runtime", std::to_string(runtime)},
            {"kernels", compiler_ != nullptr ? compiler_->description() : no_compiler_},
            {"clock", fmt::format("CUDA events, brought to the host's clock within {} ns",
                                  event_clock_.uncertainty_ns())}};
  }

  /// Keeps the first error; later ones are consequences.
  void check(const char* what, cudaError_t status) {
    if (status == cudaSuccess || status == cudaErrorNotReady || failure_) return;
    failure_ = cuda_error(what, status).value();
  }
  /// Called before anything is enqueued.
  void use() {
    use_device(index_);
    finish_launches();
  }
  void launch(cudaGraphExec_t graph, StreamHandle stream) {
    use();
    check("cudaGraphLaunch", cudaGraphLaunch(graph, stream_of(stream)));
  }
  /// On the device's own thread.
  void launch_soon(cudaGraphExec_t graph, StreamHandle stream) {
    if (launch_thread_ == nullptr) {
      launch_thread_ = std::make_unique<LaunchThread>([this](void* exec, void* on) {
        use_device(index_);
        const auto status = cudaGraphLaunch(static_cast<cudaGraphExec_t>(exec), stream_of(on));
        if (status != cudaSuccess) graph_status_.store(status, std::memory_order_release);
      });
    }
    launch_thread_->add(graph, stream);
  }

  /// Host memory for a kernel that runs on the host; reused once its stream has passed it.
  struct HostCall {
    std::shared_ptr<HostKernel> kernel;
    std::vector<std::byte*> pieces;
    std::vector<const void*> in;
    std::vector<void*> out;
    cudaEvent_t done = nullptr;
    ~HostCall() {
      for (std::byte* piece : pieces) cudaFreeHost(piece);
      if (done != nullptr) cudaEventDestroy(done);
    }
  };
  HostCall& add_host_call() {
    while (!host_calls_.empty() && cudaEventQuery(host_calls_.front()->done) == cudaSuccess) {
      host_calls_.pop_front();
    }
    return *host_calls_.emplace_back(std::make_unique<HostCall>());
  }

 private:
  CudaDevice(int index, const RunClock& clock)
      : index_(index), clock_(clock), event_clock_(clock) {}

  Expected<void> start() {
    use();
    if (const auto status = cudaFree(nullptr); status != cudaSuccess) {
      return cuda_error(("device " + std::to_string(index_)).c_str(), status);
    }
    check("cudaStreamCreate", cudaStreamCreateWithFlags(&own_stream_, cudaStreamNonBlocking));
    streams_.push_back(own_stream_);
    cudaMemPool_t pool = nullptr;
    check("cudaDeviceGetDefaultMemPool", cudaDeviceGetDefaultMemPool(&pool, index_));
    uint64_t keep = UINT64_MAX;
    check("cudaMemPoolSetAttribute",
          cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    check("cudaEventRecord", event_clock_.start(own_stream_));
    if (failure_) return tl::unexpected(*failure_);
    return {};
  }

  void transfer(void* to, const void* from, int64_t bytes, cudaMemcpyKind kind) {
    if (bytes <= 0) return;
    use();
    check("cudaMemcpyAsync",
          cudaMemcpyAsync(to, from, static_cast<size_t>(bytes), kind, own_stream_));
    check("cudaStreamSynchronize", cudaStreamSynchronize(own_stream_));
  }

  int index_ = 0;
  bool capturing_ = false;
  const RunClock& clock_;
  std::string name_;
  std::string identity_;
  std::string capability_;
  int64_t memory_bytes_ = 0;
  int multiprocessors_ = 1;
  cudaStream_t own_stream_ = nullptr;  // for reads and writes from the host
  EventClock event_clock_;
  std::vector<cudaStream_t> streams_;
  std::vector<cudaEvent_t> events_;
  std::vector<cudaEvent_t> free_events_;
  std::deque<std::unique_ptr<HostCall>> host_calls_;
  std::shared_ptr<KernelCompiler> compiler_;
  std::string no_compiler_;
  std::optional<Error> failure_;
  std::atomic<cudaError_t> graph_status_ = cudaSuccess;  // of the launch thread
  std::unique_ptr<LaunchThread> launch_thread_;
};

void GeneratedKernel::launch(StreamHandle stream, std::span<const void* const> in,
                             std::span<void* const> out, void* scratch) const {
  device_.use();
  const int status = kernel_->launch(static_cast<Stream>(stream), in, out, scratch);
  if (status != 0) device_.check("a launch", static_cast<cudaError_t>(status));
}

CudaGraph::~CudaGraph() {
  device_.use();
  cudaGraphExecDestroy(graph_);
}
void CudaGraph::launch(StreamHandle stream) const { device_.launch(graph_, stream); }
void CudaGraph::launch_soon(StreamHandle stream) const { device_.launch_soon(graph_, stream); }

void BorrowedHostKernel::launch(StreamHandle stream, std::span<const void* const> in,
                                std::span<void* const> out, void*) const {
  device_.use();
  cudaStream_t on = stream_of(stream);
  CudaDevice::HostCall& call = device_.add_host_call();
  call.kernel = kernel_;
  const auto take = [&](int64_t bytes) -> std::byte* {
    void* memory = nullptr;
    device_.check("cudaMallocHost",
                  cudaMallocHost(&memory, static_cast<size_t>(std::max<int64_t>(bytes, 1))));
    call.pieces.push_back(static_cast<std::byte*>(memory));
    return call.pieces.back();
  };
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t bytes = kernel_->in_bytes()[i];
    std::byte* piece = take(bytes);
    call.in.push_back(piece);
    if (bytes == 0 || piece == nullptr) continue;
    device_.check("cudaMemcpyAsync", cudaMemcpyAsync(piece, in[i], static_cast<size_t>(bytes),
                                                     cudaMemcpyDeviceToHost, on));
  }
  for (size_t i = 0; i < out.size(); ++i) call.out.push_back(take(kernel_->out_bytes()[i]));
  const auto run = [](void* data) {
    const auto& c = *static_cast<CudaDevice::HostCall*>(data);
    c.kernel->run(c.in, c.out);
  };
  device_.check("cudaLaunchHostFunc", cudaLaunchHostFunc(on, run, &call));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t bytes = kernel_->out_bytes()[i];
    if (bytes == 0) continue;
    device_.check("cudaMemcpyAsync",
                  cudaMemcpyAsync(out[i], call.out[i], static_cast<size_t>(bytes),
                                  cudaMemcpyHostToDevice, on));
  }
  device_.check("cudaEventCreate", cudaEventCreateWithFlags(&call.done, cudaEventDisableTiming));
  device_.check("cudaEventRecord", cudaEventRecord(call.done, on));
}

}  // namespace

Expected<std::vector<std::unique_ptr<Device>>> open_cuda_devices(const std::vector<int>& wanted,
                                                                 const RunClock& clock,
                                                                 const CudaDeviceOptions& options) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    return fail(ErrorKind::kRuntime, "cuda_missing",
                fmt::format("the cuda backend finds no GPU: {}; `--backend sim` runs the same "
                            "program on the CPU",
                            status == cudaSuccess ? "there is none" : cudaGetErrorString(status)));
  }
  std::vector<int> indices = wanted;
  for (int i = 0; wanted.empty() && i < count; ++i) indices.push_back(i);
  std::vector<std::unique_ptr<Device>> out;
  for (const int index : indices) {
    if (index < 0 || index >= count) {
      return fail(ErrorKind::kUsage, "cuda_device",
                  fmt::format("there is no device {}; this computer has {}", index, count));
    }
    HOSTIR_ASSIGN_OR_RETURN(auto device, CudaDevice::open(index, clock, options));
    out.push_back(std::move(device));
  }
  return out;
}

}  // namespace hostir::cuda
