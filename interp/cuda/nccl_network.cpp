// Implements Network with NCCL, loaded on first use.
//
// Communicators are blocking and connect all their algorithms when they are created, so that a call
// only enqueues. NCCL still connects some peers later (the first send or recv to a peer). Such
// calls are made on a thread of the rank, which may block until the peer calls, while the backend's
// thread continues.
#include <fmt/core.h>
#include <nccl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "interp/cuda/cuda_api.h"
#include "interp/cuda/network.h"
#include "kernels/cuda/shared_library.h"

namespace hostir::cuda {

namespace {

/// The functions used from libnccl.so.2.
struct NcclApi {
#define HOSTIR_NCCL_FUNCTIONS(X) \
  X(ncclGetVersion)              \
  X(ncclGetUniqueId)             \
  X(ncclCommInitRankConfig)      \
  X(ncclCommSplit)               \
  X(ncclCommGetAsyncError)       \
  X(ncclCommAbort)               \
  X(ncclCommDestroy)             \
  X(ncclGroupStart)              \
  X(ncclGroupEnd)                \
  X(ncclAllReduce)               \
  X(ncclReduce)                  \
  X(ncclBroadcast)               \
  X(ncclAllGather)               \
  X(ncclReduceScatter)           \
  X(ncclSend)                    \
  X(ncclRecv)                    \
  X(ncclGetErrorString)          \
  X(ncclGetLastError)
#define HOSTIR_DECLARE(name) decltype(&::name) name = nullptr;
  HOSTIR_NCCL_FUNCTIONS(HOSTIR_DECLARE)
#undef HOSTIR_DECLARE

  static Expected<NcclApi> load() {
    auto library = SharedLibrary::open({"libnccl.so.2", "libnccl.so"});
    if (!library) {
      return fail(ErrorKind::kRuntime, "nccl_missing",
                  "ranks on several devices or in several processes meet through NCCL, or in one "
                  "process with --transport copies: " +
                      library.error().message());
    }
    NcclApi out;
#define HOSTIR_LOAD(name) library->bind(out.name, #name);
    HOSTIR_NCCL_FUNCTIONS(HOSTIR_LOAD)
#undef HOSTIR_LOAD
    if (const auto checked = library->check(); !checked) {
      return fail(ErrorKind::kRuntime, "nccl_missing",
                  "NCCL 2.28 or newer is needed: " + checked.error().message());
    }
    return out;
  }
};

Error nccl_error(const NcclApi& api, const char* what, ncclResult_t status) {
  const char* last = api.ncclGetLastError(nullptr);
  return fail(
             ErrorKind::kRuntime, "nccl",
             fmt::format("{}: {}{}{}", what, api.ncclGetErrorString(status),
                         last != nullptr && *last != '\0' ? ": " : "", last != nullptr ? last : ""))
      .value();
}

// By DType. NCCL has no 16-bit integers: their bits move as f16, and refuse_fold() keeps them from
// being added.
ncclDataType_t nccl_type(DType dtype) {
  constexpr std::array<ncclDataType_t, kAllDTypes.size()> kTypes = {
      ncclFloat64,    ncclFloat32, ncclBfloat16, ncclFloat16, ncclFloat8e4m3,
      ncclFloat8e5m2, ncclInt64,   ncclInt32,    ncclFloat16, ncclInt8,
      ncclUint64,     ncclUint32,  ncclFloat16,  ncclUint8,   ncclUint8};
  return kTypes[static_cast<size_t>(dtype)];
}

// Truth values: sum, avg and max are "or", prod and min are "and".
ncclRedOp_t nccl_reduction(Reduction reduction, DType dtype) {
  const bool truth = dtype == DType::kI1;
  switch (reduction) {
    case Reduction::kSum:
      return truth ? ncclMax : ncclSum;
    case Reduction::kAvg:
      return truth ? ncclMax : ncclAvg;
    case Reduction::kProd:
      return truth ? ncclMin : ncclProd;
    case Reduction::kMin:
      return ncclMin;
    case Reduction::kMax:
      return ncclMax;
  }
  return ncclSum;
}

/// One call, with its arguments.
struct NcclOp {
  enum class Kind : uint8_t {
    kAllReduce,
    kReduce,
    kReduceScatter,  // the last one that adds
    kBroadcast,
    kAllGather,
    kSend,
    kRecv
  } kind = Kind::kAllReduce;
  const void* in = nullptr;
  void* out = nullptr;
  size_t elems = 0;
  int peer = 0;
  ncclDataType_t type = ncclUint8;
  ncclRedOp_t reduction = ncclSum;
  ncclComm_t comm = nullptr;
};

ncclResult_t call(const NcclApi& api, const NcclOp& op, cudaStream_t stream) {
  switch (op.kind) {
    case NcclOp::Kind::kAllReduce:
      return api.ncclAllReduce(op.in, op.out, op.elems, op.type, op.reduction, op.comm, stream);
    case NcclOp::Kind::kReduce:
      return api.ncclReduce(op.in, op.out, op.elems, op.type, op.reduction, op.peer, op.comm,
                            stream);
    case NcclOp::Kind::kBroadcast:
      return api.ncclBroadcast(op.in, op.out, op.elems, op.type, op.peer, op.comm, stream);
    case NcclOp::Kind::kAllGather:
      return api.ncclAllGather(op.in, op.out, op.elems, op.type, op.comm, stream);
    case NcclOp::Kind::kReduceScatter:
      return api.ncclReduceScatter(op.in, op.out, op.elems, op.type, op.reduction, op.comm, stream);
    case NcclOp::Kind::kSend:
      return api.ncclSend(op.in, op.elems, op.type, op.peer, op.comm, stream);
    case NcclOp::Kind::kRecv:
      return api.ncclRecv(op.out, op.elems, op.type, op.peer, op.comm, stream);
  }
  return ncclInternalError;
}

/// The calls of one task, and their progress.
struct Call {
  std::vector<NcclOp> ops;
  Device* device = nullptr;
  StreamHandle stream = nullptr;
  std::vector<void*> scratch;
  std::atomic<bool> enqueued = false;
  ncclResult_t status = ncclSuccess;
};

/// Records an op's calls; copies are enqueued immediately, before them.
class RecordingWire final : public Wire {
 public:
  RecordingWire(Call& call, const Exchange& exchange, ncclComm_t comm)
      : call_(call),
        comm_(comm),
        type_(nccl_type(exchange.dtype)),
        reduction_(nccl_reduction(exchange.reduction, exchange.dtype)) {}

  void all_reduce(const void* in, void* out, int64_t elems) override {
    add(NcclOp::Kind::kAllReduce, in, out, elems, 0);
  }
  void reduce(const void* in, void* out, int64_t elems, int root) override {
    add(NcclOp::Kind::kReduce, in, out, elems, root);
  }
  void broadcast(const void* in, void* out, int64_t elems, int root) override {
    add(NcclOp::Kind::kBroadcast, in, out, elems, root);
  }
  void all_gather(const void* in, void* out, int64_t elems) override {
    add(NcclOp::Kind::kAllGather, in, out, elems, 0);
  }
  void reduce_scatter(const void* in, void* out, int64_t elems) override {
    add(NcclOp::Kind::kReduceScatter, in, out, elems, 0);
  }
  void send(const void* data, int64_t elems, int peer) override {
    add(NcclOp::Kind::kSend, data, nullptr, elems, peer);
  }
  void recv(void* data, int64_t elems, int peer) override {
    add(NcclOp::Kind::kRecv, nullptr, data, elems, peer);
  }
  void copy(void* to, const void* from, int64_t bytes) override {
    if (to == from || bytes <= 0) return;
    const Move move{to, from, bytes};
    call_.device->move({&move, 1}, call_.stream);
  }
  const std::byte* steady_input(const Member& self) override {
    const bool apart = self.in.data == nullptr || self.out.data == nullptr ||
                       self.in.data >= self.out.data + self.out.bytes ||
                       self.out.data >= self.in.data + self.in.bytes;
    if (apart) return self.in.data;
    void* scratch = call_.device->allocate(self.in.bytes, call_.stream);
    if (scratch == nullptr) return self.in.data;  // the device's failure() reports it
    call_.scratch.push_back(scratch);
    copy(scratch, self.in.data, self.in.bytes);
    return static_cast<const std::byte*>(scratch);
  }

 private:
  void add(NcclOp::Kind kind, const void* in, void* out, int64_t elems, int peer) {
    if (elems <= 0) return;
    call_.ops.push_back(
        {kind, in, out, static_cast<size_t>(elems), peer, type_, reduction_, comm_});
  }

  Call& call_;
  ncclComm_t comm_;
  ncclDataType_t type_;
  ncclRedOp_t reduction_;
};

/// A thread for the calls of one rank that may block.
class Caller {
 public:
  explicit Caller(const NcclApi& api) : api_(api), thread_([this](std::stop_token t) { run(t); }) {}

  void add(std::shared_ptr<Call> call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    changed_.notify_one();
  }
  bool idle() const {
    const std::lock_guard lock(mutex_);
    return calls_.empty();
  }
  void leave_behind() { thread_.detach(); }

 private:
  void run(const std::stop_token& stop) {
    while (true) {
      std::shared_ptr<Call> call;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, stop, [&] { return !calls_.empty(); });
        if (calls_.empty()) return;
        call = calls_.front();
      }
      make(api_, *call);
      const std::lock_guard lock(mutex_);
      calls_.pop_front();
    }
  }

 public:
  static void make(const NcclApi& api, Call& call) {
    use_device(call.device->index());
    ncclResult_t status = api.ncclGroupStart();
    for (const NcclOp& op : call.ops) {
      const ncclResult_t one = hostir::cuda::call(api, op, static_cast<cudaStream_t>(call.stream));
      if (status == ncclSuccess) status = one;
    }
    const ncclResult_t end = api.ncclGroupEnd();
    call.status = status == ncclSuccess ? end : status;
    call.enqueued.store(true, std::memory_order_release);
  }

 private:
  NcclApi api_;  // not a reference: a thread that is left behind outlives its network
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<Call>> calls_;
  std::jthread thread_;
};

class NcclNetwork final : public Network {
 public:
  NcclNetwork(NcclApi api, const NetworkSetup& setup) : api_(api), setup_(setup) {}

  ~NcclNetwork() override {
    if (aborted_) return;
    callers_.clear();
    for (auto& [key, comm] : comms_) api_.ncclCommDestroy(comm);
    for (auto& [rank, comm] : worlds_) api_.ncclCommDestroy(comm);
  }

  // Connects all at once, on one thread per local rank, since each waits for all others.
  Expected<void> connect() {
    int version = 0;
    api_.ncclGetVersion(&version);
    version_ = fmt::format("{}.{}.{}", version / 10000, version % 10000 / 100, version % 100);
    ncclUniqueId id{};
    if (setup_.process == 0) {
      if (const auto status = api_.ncclGetUniqueId(&id); status != ncclSuccess) {
        return tl::unexpected(nccl_error(api_, "ncclGetUniqueId", status));
      }
    }
    HOSTIR_ASSIGN_OR_RETURN(const std::string shared,
                            setup_.share("nccl id", std::string(id.internal, sizeof(id.internal))));
    std::memcpy(id.internal, shared.data(), std::min(shared.size(), sizeof(id.internal)));
    struct Made {
      std::mutex mutex;
      std::condition_variable changed;
      size_t waiting = 0;
      std::optional<Error> error;
      std::map<interp::Rank, ncclComm_t> worlds;
      std::map<std::pair<interp::CommIndex, interp::Rank>, ncclComm_t> comms;
    };
    const auto made = std::make_shared<Made>();
    for (size_t r = 0; r < setup_.device_of_rank.size(); ++r) {
      if (setup_.device_of_rank[r] != nullptr) ++made->waiting;
    }
    for (size_t r = 0; r < setup_.device_of_rank.size(); ++r) {
      const Device* device = setup_.device_of_rank[r];
      if (device == nullptr) continue;
      std::thread([made, api = api_, id, code = setup_.code, rank = static_cast<interp::Rank>(r),
                   index = device->index()] {
        ncclComm_t world = nullptr;
        std::map<std::pair<interp::CommIndex, interp::Rank>, ncclComm_t> comms;
        const auto error = make_communicators(api, id, *code, rank, index, world, comms);
        const std::lock_guard lock(made->mutex);
        if (error && !made->error) made->error = error;
        made->worlds[rank] = world;
        made->comms.merge(comms);
        --made->waiting;
        made->changed.notify_all();
      }).detach();
    }
    std::unique_lock lock(made->mutex);
    const bool all = made->changed.wait_for(lock, std::chrono::nanoseconds(setup_.timeout_ns),
                                            [&] { return made->waiting == 0; });
    if (made->error) return tl::unexpected(*made->error);
    if (!all) {
      return fail(
          ErrorKind::kStuck, "nccl",
          fmt::format("NCCL did not connect all {} ranks within {:g} s",
                      setup_.device_of_rank.size(), static_cast<double>(setup_.timeout_ns) * 1e-9));
    }
    worlds_ = made->worlds;
    comms_ = made->comms;
    return {};
  }

  int64_t start(std::span<const WireCall> calls, Device& device, StreamHandle stream) override {
    const auto call = std::make_shared<Call>();
    call->device = &device;
    call->stream = stream;
    bool known = true;
    interp::Rank rank = 0;
    for (const WireCall& c : calls) {
      rank = c.rank;
      const auto comm = comms_.find({c.comm, c.rank});
      if (comm == comms_.end()) continue;
      RecordingWire wire(*call, c.exchange, comm->second);
      wire_function(c.exchange.kind)(c.exchange, c.position, wire);
    }
    for (const WireCall& c : calls) refuse_fold(c.exchange.dtype, *call);
    for (const NcclOp& op : call->ops) {
      const bool pair = op.kind == NcclOp::Kind::kSend || op.kind == NcclOp::Kind::kRecv;
      if (!pair) continue;
      known =
          !connected_.insert({op.comm, op.peer, op.kind == NcclOp::Kind::kSend}).second && known;
    }
    const int64_t number = next_++;
    calls_[number] = call;
    auto& caller = callers_[rank];
    const bool busy = caller != nullptr && !caller->idle();
    if (known && !busy) {
      Caller::make(api_, *call);
    } else {
      if (caller == nullptr) caller = std::make_unique<Caller>(api_);
      caller->add(call);
    }
    return number;
  }

  bool is_enqueued(int64_t number) override {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return true;
    Call& call = *found->second;
    if (!call.enqueued.load(std::memory_order_acquire)) return false;
    if (call.status != ncclSuccess && call.status != ncclInProgress && !failure_) {
      failure_ = nccl_error(api_, "a communication", call.status);
    }
    return true;
  }

  void finished(int64_t number) override {
    const auto found = calls_.find(number);
    if (found == calls_.end()) return;
    for (void* scratch : found->second->scratch) {
      found->second->device->release(scratch, found->second->stream);
    }
    calls_.erase(found);
  }

  const Error* failure() override {
    const auto look = [&](ncclComm_t comm) {
      ncclResult_t state = ncclSuccess;
      if (failure_ || api_.ncclCommGetAsyncError(comm, &state) != ncclSuccess) return;
      if (state != ncclSuccess && state != ncclInProgress) {
        failure_ = nccl_error(api_, "NCCL", state);
      }
    };
    for (auto& [key, comm] : comms_) look(comm);
    return failure_ ? &*failure_ : nullptr;
  }

  // Threads inside a call return from it, or are abandoned.
  void abort() override {
    if (std::exchange(aborted_, true)) return;
    for (auto& [key, comm] : comms_) api_.ncclCommAbort(comm);
    for (auto& [rank, comm] : worlds_) api_.ncclCommAbort(comm);
    for (auto& [rank, caller] : callers_) {
      if (caller == nullptr) continue;
      if (!caller->idle()) {
        caller->leave_behind();
        static_cast<void>(caller.release());
      }
    }
  }

  std::vector<std::pair<std::string, std::string>> properties() const override {
    return {{"nccl", version_},
            {"nccl ranks share devices", setup_.devices_are_shared ? "yes" : "no"}};
  }

 private:
  static std::optional<Error> make_communicators(
      const NcclApi& api, const ncclUniqueId& id, const interp::Code& code, interp::Rank rank,
      int device, ncclComm_t& world,
      std::map<std::pair<interp::CommIndex, interp::Rank>, ncclComm_t>& comms) {
    use_device(device);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 1;
    ncclResult_t status = api.ncclCommInitRankConfig(&world, code.rank_count, id, rank, &config);
    if (status != ncclSuccess) return nccl_error(api, "ncclCommInitRank", status);
    for (interp::CommIndex c = 0; c < code.communicators.size(); ++c) {
      const interp::Communicator& comm = code.communicators[c];
      const int32_t group = comm.group_of_rank[static_cast<size_t>(rank)];
      const int32_t position = comm.position_of_rank[static_cast<size_t>(rank)];
      ncclComm_t made = nullptr;
      status = api.ncclCommSplit(world, group < 0 ? NCCL_SPLIT_NOCOLOR : group, position, &made,
                                 &config);
      if (status != ncclSuccess) return nccl_error(api, "ncclCommSplit", status);
      if (made != nullptr) comms[{c, rank}] = made;
    }
    return std::nullopt;
  }

  // NCCL cannot add 16-bit integers. Every member detects this by itself, so no member waits.
  void refuse_fold(DType dtype, Call& call) {
    const auto folds = [](const NcclOp& op) { return op.kind <= NcclOp::Kind::kReduceScatter; };
    if (size_bytes(dtype) != 2 || is_float(dtype) || failure_) return;
    if (std::none_of(call.ops.begin(), call.ops.end(), folds)) return;
    failure_ = fail(ErrorKind::kRuntime, "nccl_dtype",
                    fmt::format("NCCL cannot reduce {}; cast it to i32 first", name(dtype)))
                   .value();
    call.ops.clear();
  }

  NcclApi api_;
  NetworkSetup setup_;
  std::string version_;
  std::map<interp::Rank, ncclComm_t> worlds_;
  std::map<std::pair<interp::CommIndex, interp::Rank>, ncclComm_t> comms_;
  std::map<interp::Rank, std::unique_ptr<Caller>> callers_;
  std::set<std::tuple<ncclComm_t, int, bool>> connected_;  // (communicator, peer, sends)
  std::map<int64_t, std::shared_ptr<Call>> calls_;
  int64_t next_ = 0;
  bool aborted_ = false;
  std::optional<Error> failure_;
};

}  // namespace

Expected<std::unique_ptr<Network>> make_nccl_network(const NetworkSetup& setup) {
  // Set before NCCL reads its environment. For NCCL, ranks that share a device are separate hosts,
  // which communicate through sockets. Does not override the user's settings.
  ::setenv("NCCL_RUNTIME_CONNECT", "0", 0);
  // Registering the buffers of a captured call may wait for the peer's call, which the same thread
  // makes.
  ::setenv("NCCL_GRAPH_REGISTER", "0", 0);
  if (setup.devices_are_shared) {
    ::setenv("NCCL_HOSTID", fmt::format("hostir-{}-{}", setup.process, ::getpid()).c_str(), 0);
  }
  HOSTIR_ASSIGN_OR_RETURN(const NcclApi api, NcclApi::load());
  auto out = std::make_unique<NcclNetwork>(api, setup);
  HOSTIR_TRY(out->connect());
  return out;
}

}  // namespace hostir::cuda
