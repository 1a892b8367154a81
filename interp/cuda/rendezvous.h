// How the processes of one run find each other and exchange small texts over TCP.
//
// One process, or the launcher, runs a store; the others connect to it. A process publishes a text
// under a topic and receives the texts of all processes when all have published theirs, are known
// to be gone, or on timeout. It carries NCCL's id, device identities, rank positions when nothing
// moves, and parts of results, but never the program's data during the run.
// Equivalent to: torch's TCPStore.
// Threads: the store has its own; a Rendezvous is used by the backend's only.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "hostir/support/expected.h"
#include "interp/core/backend.h"

namespace hostir::cuda {

/// This process among the processes of the run.
struct ProcessPlace {
  int index = 0;
  int count = 1;
  int local_index = 0;  // among the processes of this machine
  int local_count = 1;
  std::string host;                 // address of the store
  int port = 0;                     //
  bool launcher_has_store = false;  // else process 0 runs it
};

/// The store. Its destructor first waits briefly for clients that are still connected.
class RendezvousStore {
 public:
  /// Port 0: any free one. Errors: `rendezvous` with the system's reason.
  static Expected<std::unique_ptr<RendezvousStore>> open(int port, int processes);
  ~RendezvousStore();
  RendezvousStore(const RendezvousStore&) = delete;
  RendezvousStore& operator=(const RendezvousStore&) = delete;
  int port() const { return port_; }

 private:
  class Server;
  RendezvousStore() = default;
  int port_ = 0;
  std::unique_ptr<Server> server_;
  std::jthread thread_;
};

class Rendezvous final : public interp::Peers {
 public:
  /// Opens the store if this process runs it, connects, and waits until all processes are there.
  /// Errors: `rendezvous`, naming the processes that did not connect.
  static Expected<std::unique_ptr<Rendezvous>> create(const ProcessPlace& place,
                                                      int64_t timeout_ns);
  ~Rendezvous() override;
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  int process() const override { return place_.index; }
  std::vector<interp::Rank> ranks_of(int process) const override;
  std::vector<Answer> exchange(const std::string& topic, std::string mine,
                               int64_t timeout_ns) override;

  void set_rank_count(interp::Rank ranks) { ranks_ = ranks; }
  /// A process whose connection broke before it disconnected properly. Does not block.
  std::optional<int> lost_process();

 private:
  explicit Rendezvous(ProcessPlace place) : place_(std::move(place)) {}
  Expected<void> connect(int64_t timeout_ns);

  ProcessPlace place_;
  std::unique_ptr<RendezvousStore> store_;
  int socket_ = -1;
  interp::Rank ranks_ = 0;
  std::vector<int> lost_;
};

}  // namespace hostir::cuda
