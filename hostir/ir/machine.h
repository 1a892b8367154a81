// Machine descriptions: where `sim` takes its times from.
//
// Plain numbers with units in their names. Hosts hold `ranks_per_host` devices each; as many hosts
// as the ranks need. One table, `machine_fields()`, names every number once; the text form
// `machine @m { key = value ... }`, its printer, `hostir machines` and the documentation walk it.
// A machine written in the text starts from the built-in `h200x8`: keys that are left out keep its
// values. How the calibration of a collective becomes a time stands in
// hostir/ops/collective_cost.h.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/ir/op_kind.h"
#include "hostir/support/diagnostic.h"

namespace hostir {

/// A link end: one engine in and one out per rank.
struct Link {
  double bandwidth_bytes_per_s = 0;
  double latency_ns = 0;  // per hop
  friend bool operator==(const Link&, const Link&) = default;
};

/// Calibration of one kind of collective inside a host (collective_cost.h has the formula).
struct CollectiveModel {
  double base_ns = 0;                // of the smallest message, before any hop
  double hop_ns = 0;                 // per step of a small message
  double ramp_base_ns = 0;           // what large messages pay on top, once
  double ramp_hop_ns = 0;            // and per step
  double ramp_bytes = 0;             // bytes on the wire at which half of that is paid
  double bandwidth_bytes_per_s = 0;  // of one rank's link, by nccl-tests' definition of busbw
  double local_bytes_per_s = 0;      // at which a rank moves its own share; 0: costs nothing
  double channel_bytes_per_s = 0;    // point to point: of one of the channels; 0: no such limit
  friend bool operator==(const CollectiveModel&, const CollectiveModel&) = default;
};

/// The communication ops of ops.def, in its order.
inline constexpr std::array kCommunicationOps = {
#define HOSTIR_COMMUNICATION_OP(name) OpKind::name,
#include "hostir/ir/ops.def"
};

struct Machine {
  std::string name;
  double ranks_per_host = 8;
  double memory_bytes = 0;  // per rank
  double memory_bandwidth_bytes_per_s = 0;
  double launch_ns = 0;  // fixed cost of a kernel on the device
  double issue_ns = 1;   // host cost of one instruction; at least 1
  std::array<double, kAllDTypes.size()> flops_per_s = {};  // matrix products; 0: not given
  Link local_link;                                         // between ranks of a host
  Link network;                                            // between hosts, per rank
  std::array<CollectiveModel, kCommunicationOps.size()> collectives = {};
  std::vector<std::string> documentation;
  SourceSpan span;

  /// Of the dtype, or of the narrowest wider one that is given; 0 if none is.
  double flops(DType dtype) const;
  /// The calibration of a communication op; of the first one for any other kind.
  const CollectiveModel& model(OpKind kind) const;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// One number of a machine.
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

  std::string name;       // the key in the text: `launch_ns`, `flops_per_s_bf16`, `permute_hop_ns`
  std::string_view unit;  // "ns", "bytes", "bytes/s", "flop/s" or "" for a count
  std::string_view doc;   // one sentence
  Where where;

  double get(const Machine& machine) const;
  void set(Machine& machine, double value) const;
};

/// All fields in the order in which they are printed.
std::span<const MachineField> machine_fields();
const MachineField* find_machine_field(std::string_view name);

/// `h200x8` (default), `h200x8x4` (4 hosts of 8), `cpu`.
std::span<const Machine> builtin_machines();
const Machine* find_builtin_machine(std::string_view name);
/// The machine that is used where none is named, and that written ones start from.
const Machine& default_machine();

}  // namespace hostir
