// Machine descriptions: where `sim` takes its times from.
//
// Plain numbers with units in their names. Hosts hold `ranks_per_host` devices each; as many hosts
// as the ranks need. Collectives follow an alpha-beta model with a few measured points per kind
// (hostir/ops/collective_cost.h says how); the tables of the built-in machines are calibrated on
// recorded NCCL measurements.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hostir/ir/dtype.h"
#include "hostir/support/diagnostic.h"

namespace hostir {

/// A link end: one engine in and one out per rank.
struct Link {
  double bandwidth_bytes_per_s = 0;
  double latency_ns = 0;  // per hop
  friend bool operator==(const Link&, const Link&) = default;
};

/// Calibration of one kind of collective inside a host.
/// time_ns(bytes S, n ranks) = base_ns + steps(n) * hop_ns + wire_bytes(S, n) / bandwidth(S),
/// where bandwidth saturates as S grows: bandwidth_bytes_per_s * S / (S + half_bytes).
struct CollectiveModel {
  std::string kind;  // mnemonic
  double base_ns = 0;
  double hop_ns = 0;
  double bandwidth_bytes_per_s = 0;
  double half_bytes = 0;
  friend bool operator==(const CollectiveModel&, const CollectiveModel&) = default;
};

struct Machine {
  std::string name;
  int64_t ranks_per_host = 8;
  int64_t memory_bytes = 0;  // per rank
  double memory_bandwidth_bytes_per_s = 0;
  double launch_ns = 0;                               // fixed cost of a kernel on the device
  double issue_ns = 0;                                // host cost of one instruction
  std::vector<std::pair<DType, double>> flops_per_s;  // matrix products, by dtype
  Link local_link;                                    // between ranks of a host
  Link network;                                       // between hosts
  std::vector<CollectiveModel> collectives;
  std::vector<std::string> documentation;
  SourceSpan span;

  double flops(DType dtype) const;  // of the dtype, or of the nearest one listed; 0 if none is
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// `cpu`, `h200x8` (default), `h200x8x4` (4 hosts of 8).
const std::vector<Machine>& builtin_machines();
const Machine* find_builtin_machine(std::string_view name);

}  // namespace hostir
