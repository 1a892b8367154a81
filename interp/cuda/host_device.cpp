// A device without a GPU: executes everything immediately on the host, in call order.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "interp/cuda/device.h"
#include "interp/cuda/fold_table.h"
#include "interp/cuda/host_kernel.h"

namespace hostir::cuda {

namespace {

int64_t steady_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct FoldOnHost {
  Fold call;

  template <class Element, class Combine>
  void run() {
    using Stored = typename Element::Stored;
    const auto count = static_cast<int>(call.inputs.size());
    int64_t begin = INT64_MAX;
    int64_t end = 0;
    for (const FoldTarget& target : call.targets) {
      begin = std::min(begin, target.begin);
      end = std::max(end, target.end);
    }
    // Element by element, because a target may be an input.
    for (int64_t i = begin; i < end; ++i) {
      const Stored value = fold_element<Element, Combine>(call.inputs.data(), count, i);
      for (const FoldTarget& target : call.targets) {
        if (i < target.begin || i >= target.end) continue;
        static_cast<Stored*>(target.to)[i - target.begin] = value;
      }
    }
  }
};

/// What a host device does: at once, or recorded between begin_capture and end_capture.
class HostWork {
 public:
  template <class Work>
  void run(Work work) {
    if (capturing_) {
      captured_.emplace_back(std::move(work));
    } else {
      work();
    }
  }
  void capture() { capturing_ = true; }
  bool is_capturing() const { return capturing_; }
  std::vector<std::function<void()>> end() {
    capturing_ = false;
    return std::move(captured_);
  }

 private:
  bool capturing_ = false;
  std::vector<std::function<void()>> captured_;
};

class HostGraph final : public DeviceGraph {
 public:
  explicit HostGraph(std::vector<std::function<void()>> work) : work_(std::move(work)) {}
  void launch(StreamHandle) const override {
    for (const auto& work : work_) work();
  }

 private:
  std::vector<std::function<void()>> work_;
};

class HostDeviceKernel final : public DeviceKernel {
 public:
  HostDeviceKernel(HostWork& work, std::shared_ptr<HostKernel> kernel)
      : work_(work), kernel_(std::move(kernel)) {}
  void launch(StreamHandle, std::span<const void* const> in, std::span<void* const> out,
              void*) const override {
    work_.run(
        [kernel = kernel_, reads = std::vector<const void*>(in.begin(), in.end()),
         writes = std::vector<void*>(out.begin(), out.end())] { kernel->run(reads, writes); });
  }
  int64_t scratch_bytes() const override { return 0; }
  std::string description() const override { return kernel_->description(); }

 private:
  HostWork& work_;
  std::shared_ptr<HostKernel> kernel_;
};

class HostDevice final : public Device {
 public:
  HostDevice(int index, const RunClock& clock, int64_t memory_bytes, int event_lag)
      : index_(index), clock_(clock), memory_bytes_(memory_bytes), event_lag_(event_lag) {}

  int index() const override { return index_; }
  std::string name() const override { return "host"; }
  std::string identity() const override { return "host " + std::to_string(index_); }
  int64_t memory_bytes() const override { return memory_bytes_; }

  StreamHandle make_stream() override { return &stream_; }
  EventHandle take_event() override {
    if (free_.empty()) free_.push_back(events_.emplace_back(std::make_unique<HostEvent>()).get());
    HostEvent* event = free_.back();
    free_.pop_back();
    return event;
  }
  void give_back(EventHandle event) override { free_.push_back(static_cast<HostEvent*>(event)); }
  void record(EventHandle event, StreamHandle) override {
    *static_cast<HostEvent*>(event) = {clock_.now_ns(), event_lag_};
  }
  void wait(StreamHandle, EventHandle) override {}
  bool has_happened(EventHandle event) override {
    int& lag = static_cast<HostEvent*>(event)->lag;
    return lag == 0 || --lag == 0;
  }
  int64_t time_ns(EventHandle event) override { return static_cast<HostEvent*>(event)->time_ns; }

  void* allocate(int64_t bytes, StreamHandle) override {
    if (work_.is_capturing() || bytes > memory_bytes_ - used_bytes_) return nullptr;
    auto memory = std::make_unique<Piece>();
    memory->bytes = static_cast<size_t>(std::max<int64_t>(bytes, 1));
    memory->data = ::mmap(nullptr, memory->bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory->data == MAP_FAILED) {
      memory->data = nullptr;
      return nullptr;
    }
    used_bytes_ += bytes;
    return pieces_.emplace_back(std::move(memory))->data;
  }
  void release(void* memory, StreamHandle) override {
    const auto at = std::find_if(pieces_.begin(), pieces_.end(),
                                 [&](const auto& piece) { return piece->data == memory; });
    if (at == pieces_.end()) return;
    used_bytes_ -= static_cast<int64_t>((*at)->bytes);
    pieces_.erase(at);
  }
  void upload(void* to, const std::byte* from, int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void download(std::byte* to, const void* from, int64_t bytes) override {
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  }
  void synchronize() override {
    for (const auto& event : events_) event->lag = 0;
  }

  void move(std::span<const Move> moves, StreamHandle) override {
    work_.run([list = std::vector<Move>(moves.begin(), moves.end())] {
      for (const Move& m : list) {
        if (m.bytes <= 0) continue;
        if (m.from == nullptr) {
          std::memset(m.to, 0, static_cast<size_t>(m.bytes));
        } else if (m.to != m.from) {
          std::memcpy(m.to, m.from, static_cast<size_t>(m.bytes));
        }
      }
    });
  }
  void fold(const Fold& call, StreamHandle) override {
    work_.run([call, inputs = std::vector<const void*>(call.inputs.begin(), call.inputs.end()),
               targets = std::vector<FoldTarget>(call.targets.begin(), call.targets.end())] {
      FoldOnHost run{{call.reduction, call.dtype, inputs, targets}};
      with_fold_types(call.reduction, call.dtype, run);
    });
  }
  bool reach(Device&) override { return true; }
  void pull(void* to, const void* from, int64_t bytes, StreamHandle stream) override {
    const Move one{to, from, bytes};
    move({&one, 1}, stream);
  }
  void copy(const StridedCopy& call, StreamHandle) override { copy_dimension(call, 0, 0, 0); }
  void delay(int64_t ns, StreamHandle) override {
    std::this_thread::sleep_for(std::chrono::nanoseconds(ns));
  }
  void begin_capture(StreamHandle) override { work_.capture(); }
  Expected<std::unique_ptr<DeviceGraph>> end_capture(StreamHandle) override {
    return std::make_unique<HostGraph>(work_.end());
  }
  Expected<std::shared_ptr<const DeviceKernel>> compile(
      const kernels::BoundKernel& kernel) override {
    HOSTIR_ASSIGN_OR_RETURN(auto made, HostKernel::create(kernel));
    return std::make_shared<const HostDeviceKernel>(work_, std::move(made));
  }
  const Error* failure() override { return nullptr; }
  std::vector<std::pair<std::string, std::string>> properties() const override { return {}; }

 private:
  struct HostEvent {
    int64_t time_ns = 0;
    int lag = 0;
  };
  struct Piece {
    void* data = nullptr;
    size_t bytes = 0;
    Piece() = default;
    Piece(const Piece&) = delete;
    Piece& operator=(const Piece&) = delete;
    ~Piece() {
      if (data != nullptr) ::munmap(data, bytes);
    }
  };

  static void copy_dimension(const StridedCopy& c, size_t d, int64_t from, int64_t to) {
    if (d == c.extents.size()) {
      std::memcpy(static_cast<std::byte*>(c.to) + to * c.element_bytes,
                  static_cast<const std::byte*>(c.from) + from * c.element_bytes,
                  static_cast<size_t>(c.element_bytes));
      return;
    }
    for (int64_t i = 0; i < c.extents[d]; ++i) {
      copy_dimension(c, d + 1, from + i * c.from_strides[d], to + i * c.to_strides[d]);
    }
  }

  int index_ = 0;
  const RunClock& clock_;
  int64_t memory_bytes_ = 0;
  int64_t used_bytes_ = 0;
  int event_lag_ = 0;
  HostWork work_;
  int stream_ = 0;
  std::vector<std::unique_ptr<HostEvent>> events_;
  std::vector<HostEvent*> free_;
  std::vector<std::unique_ptr<Piece>> pieces_;
};

}  // namespace

RunClock::RunClock() : begin_ns_(steady_ns()) {}
int64_t RunClock::now_ns() const { return steady_ns() - begin_ns_; }

std::unique_ptr<Device> make_host_device(int index, const RunClock& clock, int64_t memory_bytes,
                                         int event_lag) {
  return std::make_unique<HostDevice>(index, clock, memory_bytes, event_lag);
}

}  // namespace hostir::cuda
