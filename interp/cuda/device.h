// One device as the backend sees it: memory, streams, events, copies, folds, kernels.
//
// `CudaDevice` is the real one. `make_host_device()` is one without a GPU that does everything at
// once on the host, with the same arithmetic, so that queues, meetings and transfers are tested on
// every computer. Handles are the device's and die with it. Threads: one, that of the backend.
// Errors: calls that enqueue work never fail by themselves; what went wrong is kept and told by
// `failure()`, as CUDA tells of asynchronous errors by later calls.
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

/// Bytes that move, on the device; ranges of one call do not overlap.
struct Move {
  void* to = nullptr;
  const void* from = nullptr;  // nullptr: zeros
  int64_t bytes = 0;
};

/// Elements [begin, end) of a fold go to `to`.
struct FoldTarget {
  void* to = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// out[i] = inputs[0][i] op inputs[1][i] ..., in this order, 16-bit floats in f32 and rounded once:
/// the same bits as the simulator's. A target may be the part of an input that it is made from.
struct Fold {
  Reduction reduction = Reduction::kSum;
  DType dtype = DType::kF32;
  std::span<const void* const> inputs;
  std::span<const FoldTarget> targets;
};
inline constexpr size_t kMostFoldInputs = 256;  // members that may meet on one device

/// A box of at most kMostDimensions dimensions between strided and dense memory.
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
  /// Enqueues it; `scratch`: scratch_bytes() bytes that nobody else uses until it has finished.
  virtual void launch(StreamHandle stream, std::span<const void* const> in,
                      std::span<void* const> out, void* scratch) const = 0;
  virtual int64_t scratch_bytes() const = 0;
  virtual std::string description() const = 0;
};

class Device {
 public:
  virtual ~Device() = default;

  virtual int index() const = 0;             // of this process
  virtual std::string name() const = 0;      // `NVIDIA H200`
  virtual std::string identity() const = 0;  // equal in two processes if it is the same device
  virtual int64_t memory_bytes() const = 0;

  virtual StreamHandle make_stream() = 0;
  /// An event that nobody waits for any more is given back for another use.
  virtual EventHandle take_event() = 0;
  virtual void give_back(EventHandle event) = 0;
  virtual void record(EventHandle event, StreamHandle stream) = 0;
  virtual void wait(StreamHandle stream, EventHandle event) = 0;
  virtual bool has_happened(EventHandle event) = 0;
  /// On the host's clock (Backend::now_ns), as near as the two clocks were brought together.
  virtual int64_t time_ns(EventHandle event) = 0;

  /// nullptr where there is not so much.
  virtual void* allocate(int64_t bytes, StreamHandle stream) = 0;
  virtual void release(void* memory, StreamHandle stream) = 0;
  /// Blocks until the copy is done, behind everything that was enqueued on the device.
  virtual void upload(void* to, const std::byte* from, int64_t bytes) = 0;
  virtual void download(std::byte* to, const void* from, int64_t bytes) = 0;
  virtual void synchronize() = 0;

  virtual void move(std::span<const Move> moves, StreamHandle stream) = 0;
  virtual void fold(const Fold& fold, StreamHandle stream) = 0;
  virtual void copy(const StridedCopy& copy, StreamHandle stream) = 0;
  /// Keeps the stream busy for so long: how races are made to show.
  virtual void delay(int64_t ns, StreamHandle stream) = 0;

  /// `kernel` outlives the call only.
  virtual Expected<std::shared_ptr<const DeviceKernel>> compile(
      const kernels::BoundKernel& kernel) = 0;

  /// What went wrong on the device; nothing works after it.
  virtual const Error* failure() = 0;
  /// Facts for the log: driver, libraries, clock.
  virtual std::vector<std::pair<std::string, std::string>> properties() const = 0;
};

/// `now_ns` of every device is this clock: steady, from the start of the run.
class RunClock {
 public:
  RunClock();
  int64_t now_ns() const;

 private:
  int64_t begin_ns_ = 0;
};

/// See above. `memory_bytes`: what it pretends to have. `event_lag`: how often has_happened() says
/// no of an event before it says yes, as of a device that works while the host goes on.
std::unique_ptr<Device> make_host_device(int index, const RunClock& clock,
                                         int64_t memory_bytes = INT64_MAX, int event_lag = 0);

struct CudaDeviceOptions {
  bool exact_epilogues = false;  // round where the CPU's kernels round
  bool timed_products = false;   // the algorithm of each product by timing, once for a cache folder
};
/// Devices that this process may use, of those it sees. Errors: `cuda_missing` with what is not
/// there (the toolkit when this was built, the driver, a device), `cuda_device` no such device.
Expected<std::vector<std::unique_ptr<Device>>> open_cuda_devices(const std::vector<int>& wanted,
                                                                 const RunClock& clock,
                                                                 const CudaDeviceOptions& options);

}  // namespace hostir::cuda
