// One device as the backend uses it: memory, streams, events, copies, reductions, kernels.
//
// `CudaDevice` is the real one. `make_host_device()` makes one without a GPU, which does everything
// immediately on the host with the same arithmetic, so that queues, meetings and transfers can be
// tested on any machine. The device owns its handles.
// Threads: only the backend's.
// Errors: calls that enqueue work do not fail themselves. The error is kept and returned by
// `failure()`, as CUDA reports asynchronous errors from later calls.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interp/core/backend.h"
#include "kernels/common/bound_kernel.h"

namespace hostir::cuda {

/// Equivalent to: cudaStream_t, cudaEvent_t.
using StreamHandle = void*;
using EventHandle = void*;

/// Bytes to move on the device; ranges of one call must not overlap.
struct Move {
  void* to = nullptr;
  const void* from = nullptr;  // nullptr: zeros
  int64_t bytes = 0;
};

/// Where to write elements [begin, end) of a reduction.
struct FoldTarget {
  void* to = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// out[i] = inputs[0][i] op inputs[1][i] ..., in this order, with 16-bit floats in f32 and rounded
/// once: the same bits as in the simulator. A target may be the part of an input that it is
/// computed from.
struct Fold {
  Reduction reduction = Reduction::kSum;
  DType dtype = DType::kF32;
  std::span<const void* const> inputs;
  std::span<const FoldTarget> targets;
};
inline constexpr size_t kMostFoldInputs = 256;  // largest number of members meeting on one device

/// Copies a box of at most kMostDimensions dimensions between strided and dense memory.
inline constexpr size_t kMostDimensions = 8;
struct StridedCopy {
  const void* from = nullptr;
  void* to = nullptr;
  int64_t element_bytes = 1;
  std::span<const int64_t> extents;
  std::span<const int64_t> from_strides;  // in elements
  std::span<const int64_t> to_strides;
};

/// A kernel ready to launch on this device. Immutable; ranks share it.
class DeviceKernel {
 public:
  virtual ~DeviceKernel() = default;
  /// Enqueues the kernel. `scratch`: scratch_bytes() bytes that are not used otherwise until it has
  /// finished.
  virtual void launch(StreamHandle stream, std::span<const void* const> in,
                      std::span<void* const> out, void* scratch) const = 0;
  virtual int64_t scratch_bytes() const = 0;
  /// False if a launch does work on the host, which a graph cannot repeat.
  virtual bool can_be_captured() const { return true; }
  virtual std::string description() const = 0;
};

/// Work captured from streams, to be enqueued again as one unit with the same addresses.
/// Equivalent to: cudaGraphExec_t.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  virtual void launch(StreamHandle stream) const = 0;
  /// May return before the launch is made. It is made before any later work on the device.
  virtual void launch_soon(StreamHandle stream) const { launch(stream); }
};

class Device {
 public:
  virtual ~Device() = default;

  virtual int index() const = 0;             // in this process
  virtual std::string name() const = 0;      // `NVIDIA H200`
  virtual std::string identity() const = 0;  // equal in two processes for the same device
  virtual int64_t memory_bytes() const = 0;
  virtual bool is_measured_by_cupti() const { return false; }

  virtual StreamHandle make_stream() = 0;
  /// Events are returned for reuse when no longer needed.
  virtual EventHandle take_event() = 0;
  virtual void give_back(EventHandle event) = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream, EventHandle event) = 0;
  virtual bool has_happened(EventHandle event) = 0;
  /// Time on the host's clock (Backend::now_ns), as precise as the clock alignment.
  virtual int64_t time_ns(EventHandle event) = 0;

  /// nullptr if there is not enough memory.
  virtual void* allocate(int64_t bytes, StreamHandle stream) = 0;
  virtual void release(void* memory, StreamHandle stream) = 0;
  /// Makes released memory available to allocations of any size. Blocks until all work is done.
  virtual void trim() { synchronize(); }
  /// Blocks until the copy is done, after all work enqueued on the device.
  virtual void upload(void* to, const std::byte* from, int64_t bytes) = 0;
  virtual void download(std::byte* to, const void* from, int64_t bytes) = 0;
  virtual void synchronize() = 0;
  /// Makes the launches that DeviceGraph::launch_soon() put off. Call it before a library enqueues
  /// work of its own; the calls of this interface do so themselves.
  virtual void finish_launches() {}

  virtual void move(std::span<const Move> moves, StreamHandle stream) = 0;
  virtual void fold(const Fold& fold, StreamHandle stream) = 0;
  /// Makes the memory of another device of the same kind readable. False if the hardware cannot.
  virtual bool reach(Device& other) = 0;
  /// Copies from the memory of this device, or of one in reach, by a copy engine: no multiprocessor
  /// takes part.
  virtual void pull(void* to, const void* from, int64_t bytes, StreamHandle stream) = 0;
  virtual void copy(const StridedCopy& copy, StreamHandle stream) = 0;
  /// Keeps the stream busy for `ns`; used to expose races.
  virtual void delay(int64_t ns, StreamHandle stream) = 0;

  /// Until end_capture, work on `stream`, and on streams that wait for an event recorded there, is
  /// captured instead of run. Streams that join must be joined back by an event. Memory cannot be
  /// allocated meanwhile.
  virtual void begin_capture(StreamHandle stream) = 0;
  /// Errors: `cuda_graph`, with the device's reason; nothing has run then.
  virtual Expected<std::unique_ptr<DeviceGraph>> end_capture(StreamHandle stream) = 0;

  /// `kernel` need only live for the duration of the call.
  virtual Expected<std::shared_ptr<const DeviceKernel>> compile(
      const kernels::BoundKernel& kernel) = 0;

  /// The device's error, or nullptr; nothing works after it.
  virtual const Error* failure() = 0;
  /// Facts for the log: driver, libraries, clock.
  virtual std::vector<std::pair<std::string, std::string>> properties() const = 0;
};

/// The clock behind `now_ns` of every device: steady, from the start of the run.
class RunClock {
 public:
  RunClock();
  virtual ~RunClock() = default;
  /// Tests override it to be independent of the machine's load.
  virtual int64_t now_ns() const;
  /// A reading of the steady clock as a time of the run.
  int64_t from_steady_ns(int64_t steady_ns) const { return steady_ns - begin_ns_; }

 private:
  int64_t begin_ns_ = 0;
};

/// A device without a GPU. `memory_bytes`: the memory size it reports. `event_lag`: how often
/// has_happened() returns false for an event before it returns true, to imitate a device that runs
/// asynchronously.
std::unique_ptr<Device> make_host_device(int index, const RunClock& clock,
                                         int64_t memory_bytes = INT64_MAX, int event_lag = 0);

struct CudaDeviceOptions {
  bool exact_epilogues = false;  // round where the CPU's kernels round
  bool timed_products = false;   // choose product algorithms by timing, once per cache folder
};
/// The visible devices that this process may use.
/// Errors: `cuda_missing`, naming what is missing (the toolkit at build time, the driver, a
/// device); `cuda_device` for a device that does not exist.
Expected<std::vector<std::unique_ptr<Device>>> open_cuda_devices(const std::vector<int>& wanted,
                                                                 const RunClock& clock,
                                                                 const CudaDeviceOptions& options);

}  // namespace hostir::cuda
