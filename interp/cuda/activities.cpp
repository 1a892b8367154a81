#include "interp/cuda/activities.h"

#include <cupti.h>
#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/cuda/shared_library.h"

namespace hostir::cuda {

namespace {

/// The functions used from libcupti.
struct CuptiApi {
#define HOSTIR_CUPTI_FUNCTIONS(X)           \
  X(cuptiActivityRegisterCallbacks)         \
  X(cuptiActivityRegisterTimestampCallback) \
  X(cuptiActivityEnable)                    \
  X(cuptiActivityDisable)                   \
  X(cuptiActivityFlushAll)                  \
  X(cuptiActivityGetNextRecord)             \
  X(cuptiSubscribe)                         \
  X(cuptiUnsubscribe)                       \
  X(cuptiEnableCallback)                    \
  X(cuptiGetResultString)
#define HOSTIR_DECLARE_CUPTI(name) decltype(&::name) name = nullptr;
  HOSTIR_CUPTI_FUNCTIONS(HOSTIR_DECLARE_CUPTI)
#undef HOSTIR_DECLARE_CUPTI

  // Loads only the major version whose record layouts this code was compiled with.
  static Expected<CuptiApi> load() {
    auto library = SharedLibrary::open({fmt::format("libcupti.so.{}", CUPTI_API_VERSION / 10000)});
    if (!library) return fail(ErrorKind::kRuntime, "cupti_missing", library.error().message());
    CuptiApi out;
#define HOSTIR_LOAD_CUPTI(name) library->bind(out.name, #name);
    HOSTIR_CUPTI_FUNCTIONS(HOSTIR_LOAD_CUPTI)
#undef HOSTIR_LOAD_CUPTI
    if (const auto checked = library->check(); !checked)
      return fail(ErrorKind::kRuntime, "cupti_missing", checked.error().message());
    return out;
  }
};

// The calls that enqueue work. Each leads to one activity; a graph launch leads to several.
constexpr CUpti_CallbackId kRuntimeCalls[] = {
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
    CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
    CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
    CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000,
};
constexpr CUpti_CallbackId kDriverCalls[] = {
    CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,       CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,        CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,      CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2,
    CUPTI_DRIVER_TRACE_CBID_cuMemcpyDtoHAsync_v2, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
};
constexpr CUpti_ActivityKind kActivityKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};

/// Where a thread is between begin() and end().
struct ThreadCalls {
  uint64_t task = 0;   // 0: outside
  int depth = 0;       // calls nest: a runtime call makes a driver call
  uint32_t outer = 0;  // CUPTI's correlation id of the outer call
};
ThreadCalls& thread_calls() {
  thread_local ThreadCalls calls;
  return calls;
}

class CuptiActivities;

/// CUPTI's callbacks have no user data, hence a global.
struct ActivityCollector {
  std::mutex mutex;
  std::weak_ptr<Activities> current;
  CuptiActivities* receiver = nullptr;
};
ActivityCollector& activity_collector() {
  static ActivityCollector collector;
  return collector;
}

uint64_t CUPTIAPI activity_time() {
  return static_cast<uint64_t>(
      std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count());
}

class CuptiActivities final : public Activities {
 public:
  explicit CuptiActivities(const CuptiApi& api) : api_(api) {}
  ~CuptiActivities() override {
    if (subscriber_ != nullptr) api_.cuptiUnsubscribe(subscriber_);
    api_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    for (const CUpti_ActivityKind kind : kActivityKinds) api_.cuptiActivityDisable(kind);
    const std::lock_guard lock(activity_collector().mutex);
    if (activity_collector().receiver == this) activity_collector().receiver = nullptr;
  }

  Expected<void> start() {
    CUptiResult status = CUPTI_SUCCESS;
    const auto then = [&](CUptiResult next) {
      if (status == CUPTI_SUCCESS) status = next;
    };
    then(api_.cuptiSubscribe(&subscriber_, on_call, this));
    then(api_.cuptiActivityRegisterTimestampCallback(activity_time));
    then(api_.cuptiActivityRegisterCallbacks(give_buffer, take_buffer));
    for (const CUpti_ActivityKind kind : kActivityKinds) then(api_.cuptiActivityEnable(kind));
    for (const CUpti_CallbackId id : kRuntimeCalls) {
      then(api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_RUNTIME_API, id));
    }
    for (const CUpti_CallbackId id : kDriverCalls) {
      then(api_.cuptiEnableCallback(1, subscriber_, CUPTI_CB_DOMAIN_DRIVER_API, id));
    }
    if (status == CUPTI_SUCCESS) return {};
    const char* text = nullptr;
    api_.cuptiGetResultString(status, &text);
    return fail(ErrorKind::kRuntime, "cupti_missing",
                fmt::format("CUPTI does not start: {}", text == nullptr ? "" : text));
  }

  uint64_t begin() override {
    const uint64_t number = next_.fetch_add(1, std::memory_order_relaxed);
    thread_calls() = {number, 0, 0};
    return number;
  }
  void end() override { thread_calls() = {}; }

  std::optional<ActivitySpan> find(uint64_t number) const override {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(number);
    if (found == tasks_.end() || found->second.open > 0) return std::nullopt;
    return found->second.span;
  }
  void forget(uint64_t number) override {
    const std::lock_guard lock(mutex_);
    const auto found = tasks_.find(number);
    if (found == tasks_.end()) return;
    for (const uint32_t call : found->second.calls) task_of_call_.erase(call);
    tasks_.erase(found);
  }
  void flush() override { api_.cuptiActivityFlushAll(0); }
  std::string description() const override {
    const std::lock_guard lock(mutex_);
    return fmt::format("{} buffers, {} activities, {} calls", buffers_count_, activities_count_,
                       calls_count_);
  }

 private:
  struct Task {
    std::optional<ActivitySpan> span;
    int open = 0;                 // calls whose activity is not known yet
    std::vector<uint32_t> calls;  // correlation ids, also of the driver calls inside
  };
  struct Call {
    uint64_t task = 0;
    uint32_t outer = 0;
    bool is_over = false;  // an outer call whose activity is known
  };

  // Runs on the thread that enqueues, before and after the call.
  static void CUPTIAPI on_call(void* self, CUpti_CallbackDomain, CUpti_CallbackId,
                               const void* data) {
    ThreadCalls& thread = thread_calls();
    if (thread.task == 0) return;
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    if (call->callbackSite != CUPTI_API_ENTER) {
      thread.depth = std::max(0, thread.depth - 1);
      return;
    }
    if (thread.depth++ == 0) thread.outer = call->correlationId;
    static_cast<CuptiActivities*>(self)->add_call(thread, call->correlationId);
  }

  // A few dozen records: a buffer is handed over once all of its activities have finished.
  static constexpr size_t kBufferBytes = 8 << 10;
  static void CUPTIAPI give_buffer(uint8_t** buffer, size_t* bytes, size_t* most_records) {
    *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
    *bytes = *buffer == nullptr ? 0 : kBufferBytes;
    *most_records = 0;
  }
  static void CUPTIAPI take_buffer(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t bytes) {
    {
      const std::lock_guard lock(activity_collector().mutex);
      if (activity_collector().receiver != nullptr) {
        activity_collector().receiver->read(buffer, bytes);
      }
    }
    std::free(buffer);
  }

  void read(uint8_t* buffer, size_t bytes) {
    const std::lock_guard lock(mutex_);
    ++buffers_count_;
    CUpti_Activity* record = nullptr;
    while (api_.cuptiActivityGetNextRecord(buffer, bytes, &record) == CUPTI_SUCCESS) {
      switch (record->kind) {
        case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
          const auto* r = reinterpret_cast<const CUpti_ActivityKernel10*>(record);
          add_activity(r->correlationId, r->start, r->end);
          break;
        }
        case CUPTI_ACTIVITY_KIND_MEMCPY: {
          const auto* r = reinterpret_cast<const CUpti_ActivityMemcpy6*>(record);
          add_activity(r->correlationId, r->start, r->end);
          break;
        }
        case CUPTI_ACTIVITY_KIND_MEMSET: {
          const auto* r = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
          add_activity(r->correlationId, r->start, r->end);
          break;
        }
        default:
          break;
      }
    }
  }

  static void extend(std::optional<ActivitySpan>& span, const ActivitySpan& more) {
    if (!span) {
      span = more;
      return;
    }
    span->started_ns = std::min(span->started_ns, more.started_ns);
    span->finished_ns = std::max(span->finished_ns, more.finished_ns);
  }

  void add_call(const ThreadCalls& thread, uint32_t correlation) {
    const std::lock_guard lock(mutex_);
    if (!task_of_call_.try_emplace(correlation, Call{thread.task, thread.outer}).second) return;
    Task& task = tasks_[thread.task];
    task.calls.push_back(correlation);
    if (correlation != thread.outer) return;
    ++task.open;
    ++calls_count_;
  }

  // Activities without a known call belong to others.
  void add_activity(uint32_t correlation, uint64_t start, uint64_t end) {
    const auto call = task_of_call_.find(correlation);
    if (call == task_of_call_.end() || start == 0 || end == 0) return;
    ++activities_count_;
    const auto task = tasks_.find(call->second.task);
    if (task == tasks_.end()) return;
    extend(task->second.span, {static_cast<int64_t>(start), static_cast<int64_t>(end)});
    const auto outer = task_of_call_.find(call->second.outer);
    if (outer == task_of_call_.end() || std::exchange(outer->second.is_over, true)) return;
    --task->second.open;
  }

  const CuptiApi api_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  std::atomic<uint64_t> next_ = 1;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, Task> tasks_;
  std::unordered_map<uint32_t, Call> task_of_call_;  // by CUPTI's correlation id
  uint64_t buffers_count_ = 0;
  uint64_t activities_count_ = 0;
  uint64_t calls_count_ = 0;
};

}  // namespace

Expected<std::shared_ptr<Activities>> Activities::open() {
  ActivityCollector& collector = activity_collector();
  {
    const std::lock_guard lock(collector.mutex);
    if (auto current = collector.current.lock()) return current;
  }
  HOSTIR_ASSIGN_OR_RETURN(const CuptiApi api, CuptiApi::load());
  auto made = std::make_shared<CuptiActivities>(api);
  HOSTIR_TRY(made->start());
  const std::lock_guard lock(collector.mutex);
  collector.receiver = made.get();
  collector.current = made;
  return std::shared_ptr<Activities>(std::move(made));
}

}  // namespace hostir::cuda
