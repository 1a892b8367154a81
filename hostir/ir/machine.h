// Machine descriptions: the numbers behind the simulator's times.
//
// All fields are plain numbers with the unit in the name. Each host has `ranks_per_host` devices;
// there are as many hosts as the ranks need. `machine_fields()` declares every number once; the
// parser and printer of `machine @m { key = value ... }`, `hostir machines` and the documentation
// all use that table. A machine in a program starts as a copy of the built-in `h200x8`: omitted
// keys keep its values. hostir/ops/collective_cost.h turns the calibration of a collective into a
// time.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/op_kind.h"
#include "hostir/support/diagnostic.h"

namespace hostir {

/// One rank's end of a link, with one send engine and one receive engine.
struct Link {
  double bandwidth_bytes_per_s = 0;
  double latency_ns = 0;  // per hop
  friend bool operator==(const Link&, const Link&) = default;
};

/// Calibration of one kind of collective inside a host. collective_cost.h has the formula.
struct CollectiveModel {
  double base_ns = 0;                // time of the smallest message without hops
  double hop_ns = 0;                 // added per step
  double ramp_base_ns = 0;           // extra time of large messages, once per collective
  double ramp_hop_ns = 0;            // extra time of large messages, per step
  double ramp_bytes = 0;             // bytes on the wire at which half the extra time applies
  double bandwidth_bytes_per_s = 0;  // per rank; busbw as nccl-tests defines it
  double local_bytes_per_s = 0;      // copy rate of a rank's own share; 0: free
  double channel_bytes_per_s = 0;    // point to point: per channel; 0: unlimited
  friend bool operator==(const CollectiveModel&, const CollectiveModel&) = default;
};

/// The communication ops, in the order of ops.def.
inline constexpr std::array kCommunicationOps = {
#define HOSTIR_COMMUNICATION_OP(name) OpKind::name,
#include "hostir/ir/ops.def"
};

struct Machine {
  std::string name;
  double ranks_per_host = 8;
  double memory_bytes = 0;  // per rank
  double memory_bandwidth_bytes_per_s = 0;
  double launch_ns = 0;  // fixed device time per kernel
  double issue_ns = 1;   // host time per instruction; at least 1
  /// Capacity of a connection between a send and its recv, like NCCL's buffers. A send that fits
  /// does not wait for the receiver. 0: every send waits.
  double p2p_buffer_bytes = 0;
  std::array<double, kAllDTypes.size()> flops_per_s = {};  // matrix products; 0: not specified
  /// Work with which a matrix product has half its rate; KernelTime has the formula.
  double product_ramp_flops = 0;
  Link local_link;  // between ranks on one host
  Link network;     // between hosts, per rank
  std::array<CollectiveModel, kCommunicationOps.size()> collectives = {};
  std::vector<std::string> documentation;
  SourceSpan span;

  /// FLOP/s of the dtype, else of the narrowest wider dtype that is specified; 0 if there is none.
  double flops(DType dtype) const;
  /// The calibration of a communication op; any other op gets that of the first communication op.
  const CollectiveModel& model(OpKind kind) const;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// One number in a machine description.
class MachineField {
 public:
  struct OfLink {
    Link Machine::*link;
    double Link::*member;
  };
  struct OfDType {
    size_t index;
  };
  struct OfCollective {
    size_t index;
    double CollectiveModel::*member;
  };
  using Where = std::variant<double Machine::*, OfLink, OfDType, OfCollective>;

  std::string name;       // the key: `launch_ns`, `flops_per_s_bf16`, `permute_hop_ns`
  std::string_view unit;  // "ns", "bytes", "bytes/s", "flop/s" or "" for a count
  std::string_view doc;   // one sentence
  Where where;

  double get(const Machine& machine) const;
  void set(Machine& machine, double value) const;
};

/// All fields, in printing order.
std::span<const MachineField> machine_fields();
const MachineField* find_machine_field(std::string_view name);

/// `h200x8` (default; ranks beyond 8 are on more hosts), `cpu`.
std::span<const Machine> builtin_machines();
const Machine* find_builtin_machine(std::string_view name);
/// The machine used if none is named, and the starting point of machines in programs.
const Machine& default_machine();

}  // namespace hostir
