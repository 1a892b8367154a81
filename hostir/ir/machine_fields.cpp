// The table of all numbers in a machine description.
#include "hostir/ir/machine.h"

namespace hostir {

namespace {

constexpr std::array<std::string_view, kCommunicationOps.size()> kCommunicationNames = {
#define HOSTIR_COMMUNICATION_OP(name) #name,
#include "hostir/ir/ops.def"
};

void add_scalars(std::vector<MachineField>& out) {
  out.push_back({"ranks_per_host", "", "Devices of one host.", &Machine::ranks_per_host});
  out.push_back({"memory_bytes", "bytes", "Memory of one rank.", &Machine::memory_bytes});
  out.push_back({"memory_bandwidth_bytes_per_s", "bytes/s", "Memory bandwidth of one rank.",
                 &Machine::memory_bandwidth_bytes_per_s});
  out.push_back({"launch_ns", "ns", "Fixed cost of a kernel on the device.", &Machine::launch_ns});
  out.push_back(
      {"issue_ns", "ns", "Cost of one instruction on the host, at least 1.", &Machine::issue_ns});
  out.push_back(
      {"p2p_buffer_bytes", "bytes",
       "Bytes that a connection holds between a send and its recv; 0: a send waits for it.",
       &Machine::p2p_buffer_bytes});
  for (const DType dtype : kAllDTypes) {
    out.push_back({"flops_per_s_" + std::string(name(dtype)), "flop/s",
                   "Rate of matrix products of the dtype; 0: that of the next wider one.",
                   MachineField::OfDType{static_cast<size_t>(dtype)}});
  }
  out.push_back({"product_ramp_flops", "", "Work with which a matrix product has half its rate.",
                 &Machine::product_ramp_flops});
}

void add_link(std::vector<MachineField>& out, const std::string& prefix, Link Machine::*link,
              std::string_view bandwidth, std::string_view latency) {
  out.push_back({prefix + "_bandwidth_bytes_per_s", "bytes/s", bandwidth,
                 MachineField::OfLink{link, &Link::bandwidth_bytes_per_s}});
  out.push_back(
      {prefix + "_latency_ns", "ns", latency, MachineField::OfLink{link, &Link::latency_ns}});
}

void add_collective(std::vector<MachineField>& out, size_t index) {
  struct Member {
    std::string_view name, unit, doc;
    double CollectiveModel::*member;
  };
  static constexpr std::array<Member, 8> kMembers = {{
      {"base_ns", "ns", "Time of the smallest message before any hop.", &CollectiveModel::base_ns},
      {"hop_ns", "ns", "Time of one step of a small message.", &CollectiveModel::hop_ns},
      {"ramp_base_ns", "ns", "Extra time of a large message, once.",
       &CollectiveModel::ramp_base_ns},
      {"ramp_hop_ns", "ns", "Extra time of a large message per step.",
       &CollectiveModel::ramp_hop_ns},
      {"ramp_bytes", "bytes", "Bytes on the wire at which half of ramp_hop_ns is paid.",
       &CollectiveModel::ramp_bytes},
      {"bandwidth_bytes_per_s", "bytes/s", "Bus bandwidth of large messages.",
       &CollectiveModel::bandwidth_bytes_per_s},
      {"local_bytes_per_s", "bytes/s", "Rate at which a rank moves its own share; 0: free.",
       &CollectiveModel::local_bytes_per_s},
      {"channel_bytes_per_s", "bytes/s", "Rate of one channel between two ranks; 0: no limit.",
       &CollectiveModel::channel_bytes_per_s},
  }};
  for (const Member& m : kMembers) {
    out.push_back({std::string(kCommunicationNames[index]) + "_" + std::string(m.name), m.unit,
                   m.doc, MachineField::OfCollective{index, m.member}});
  }
}

std::vector<MachineField> make_fields() {
  std::vector<MachineField> out;
  add_scalars(out);
  add_link(out, "local_link", &Machine::local_link,
           "Highest bandwidth of one rank in a collective within a host; 0: no limit.",
           "Shortest time of one step of a collective.");
  add_link(out, "network", &Machine::network, "Bandwidth of one rank between hosts.",
           "Latency of one hop between hosts.");
  for (size_t i = 0; i < kCommunicationNames.size(); ++i) add_collective(out, i);
  return out;
}

}  // namespace

std::span<const MachineField> machine_fields() {
  static const std::vector<MachineField> fields = make_fields();
  return fields;
}

}  // namespace hostir
