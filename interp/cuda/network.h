// Communication between devices and processes, behind what a backend needs of it.
//
// One communicator per `comm` of the program and group, made before the run. NCCL implements it
// (nccl_network.cpp); nothing here names NCCL. Calls never block once connected: a call that has to
// connect first goes on by itself, and `is_enqueued` says when its work is on the streams.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "interp/core/code.h"
#include "interp/cuda/exchange.h"

namespace hostir::cuda {

/// One member's side of a meeting with others elsewhere. Only that member of the exchange is
/// filled in; of a send/recv pair `exchange.pairs` holds the positions in the communicator.
struct WireCall {
  interp::CommIndex comm = 0;
  interp::Rank rank = 0;
  size_t position = 0;  // in Exchange::members
  Exchange exchange;
};

class Network {
 public:
  virtual ~Network() = default;

  /// Enqueues what one task of a rank calls, as one group, on its stream. Several ranks of this
  /// process need not call together. Memory that a call needs is given back by finished(). Returns
  /// its number.
  virtual int64_t start(std::span<const WireCall> calls, Device& device, StreamHandle stream) = 0;
  virtual bool is_enqueued(int64_t call) = 0;
  virtual void finished(int64_t call) = 0;
  /// A communicator that has failed (a peer that died, a transport error), or nullptr.
  virtual const Error* failure() = 0;
  /// Ends whatever waits for others.
  virtual void abort() = 0;
  virtual std::vector<std::pair<std::string, std::string>> properties() const = 0;
};

/// Where ranks are and how to meet the other processes.
struct NetworkSetup {
  const interp::Code* code = nullptr;
  std::vector<Device*> device_of_rank;  // nullptr: in another process
  bool devices_are_shared = false;      // by several ranks or processes
  int process = 0;
  int64_t timeout_ns = 0;
  /// Gives `text` to everybody if this is process 0, and returns what process 0 gave.
  std::function<Expected<std::string>(const std::string& topic, const std::string& text)> share;
};

/// Errors: `nccl_missing` where the library is not there, `nccl` with its message.
Expected<std::unique_ptr<Network>> make_nccl_network(const NetworkSetup& setup);

}  // namespace hostir::cuda
