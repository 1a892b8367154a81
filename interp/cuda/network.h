// Communication between devices and processes, as an interface for the backend.
//
// One communicator per `comm` of the program and group, created before the run. NCCL implements it
// (nccl_network.cpp); this interface does not depend on NCCL. Calls never block once connected. A
// call that has to connect first continues in the background, and `is_enqueued` tells when its work
// is on the streams.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "interp/core/code/code.h"
#include "interp/cuda/exchange.h"

namespace hostir::cuda {

/// One member's side of a meeting with remote members. Only that member of the exchange is filled
/// in; for a send/recv pair `exchange.pairs` contains the positions in the communicator.
struct WireCall {
  interp::CommIndex comm = 0;
  interp::Rank rank = 0;
  size_t position = 0;  // in Exchange::members
  Exchange exchange;
};

class Network {
 public:
  virtual ~Network() = default;

  /// Enqueues the calls of one task of a rank as one group on its stream. Ranks of the same process
  /// need not call together. finished() frees the memory that a call needs. Returns the number of
  /// the call.
  virtual int64_t start(std::span<const WireCall> calls, Device& device, StreamHandle stream) = 0;
  virtual bool is_enqueued(int64_t call) = 0;
  virtual void finished(int64_t call) = 0;
  /// The error of a failed communicator (a dead peer, a transport error), or nullptr.
  virtual const Error* failure() = 0;
  /// Ends all waiting for others.
  virtual void abort() = 0;
  virtual std::vector<std::pair<std::string, std::string>> properties() const = 0;
};

/// Where the ranks are, and how to reach the other processes.
struct NetworkSetup {
  const interp::Code* code = nullptr;
  std::vector<Device*> device_of_rank;  // nullptr: in another process
  bool devices_are_shared = false;      // by several ranks or processes
  int process = 0;
  int64_t timeout_ns = 0;
  /// On process 0, distributes `text` to all processes; on all, returns the text of process 0.
  std::function<Expected<std::string>(const std::string& topic, const std::string& text)> share;
};

/// Errors: `nccl_missing` if the library is not found, `nccl` with NCCL's message.
Expected<std::unique_ptr<Network>> make_nccl_network(const NetworkSetup& setup);

}  // namespace hostir::cuda
