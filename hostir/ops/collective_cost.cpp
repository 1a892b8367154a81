#include "hostir/ops/collective_cost.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "hostir/ops/record.h"

namespace hostir {

namespace {

using Steps = Communication::Steps;
using Wire = Communication::Wire;

double step_count(Steps steps, int64_t ranks) {
  if (steps == Steps::kOne) return 1;
  return static_cast<double>(ranks - 1) * (steps == Steps::kTwiceRing ? 2 : 1);
}

double quotient(double amount, double rate_per_s) {
  return rate_per_s > 0 ? amount / rate_per_s * 1e9 : 0;
}

// NCCL divides 32 channels among the peers of a rank, rounded to a power of two, and doubles the
// number per peer while a channel would carry more than 16 MiB.
double channel_bandwidth(const CollectiveModel& model, double bytes, int64_t ranks) {
  constexpr double kChannels = 32;
  constexpr double kMaxBytesPerChannel = 16.0 * 1024 * 1024;
  double channels = kChannels;
  for (int64_t peers = 1; peers < ranks && channels > 1; peers *= 2) channels /= 2;
  while (channels < kChannels && bytes / channels > kMaxBytesPerChannel) channels *= 2;
  return channels * model.channel_bytes_per_s;
}

double bandwidth(const Machine& machine, const CollectiveModel& model, double bytes,
                 const GroupPlace& place) {
  double local = model.bandwidth_bytes_per_s;
  if (machine.local_link.bandwidth_bytes_per_s > 0)
    local = std::min(local, machine.local_link.bandwidth_bytes_per_s);
  if (model.channel_bytes_per_s > 0) {
    local = std::min(local, channel_bandwidth(model, bytes, place.ranks));
  }
  if (place.hosts <= 1) return local;
  const double network = machine.network.bandwidth_bytes_per_s *
                         static_cast<double>(std::max<int64_t>(1, place.ranks_on_smallest_host));
  return std::min(local, network);
}

// How the messages of a collective travel.
struct Route {
  double steps = 0;         // one after the other
  double network_hops = 0;  // those between hosts
  double wire_bytes = 0;    // over one rank's link
};

Route ring_of(OpKind kind, double bytes, const GroupPlace& place) {
  const Steps steps = record(kind).communication.steps;
  const double rounds = steps == Steps::kTwiceRing ? 2 : 1;
  return {step_count(steps, place.ranks), rounds * static_cast<double>(place.hosts - 1),
          wire_bytes(kind, bytes, place.ranks)};
}

// NCCL's double binary tree of hosts, each of which is a chain of ranks: sums go up, then down.
Route tree_of(double bytes, const GroupPlace& place) {
  const double depth = std::ceil(std::log2(static_cast<double>(place.hosts)));
  const auto chain = static_cast<double>((place.ranks + place.hosts - 1) / place.hosts - 1);
  return {2 * (chain + depth), 2 * depth, 2 * bytes};
}

double route_ns(const Machine& machine, OpKind kind, double bytes, const GroupPlace& place,
                const Route& route) {
  const CollectiveModel& model = machine.model(kind);
  const bool has_own = record(kind).communication.wire != Wire::kAll;
  const double own = has_own ? bytes / static_cast<double>(place.ranks) : 0;
  const double ramp = model.ramp_base_ns + model.ramp_hop_ns * route.steps;
  const double wire = route.wire_bytes;
  double ns = std::max(model.base_ns + model.hop_ns * route.steps,
                       machine.local_link.latency_ns * route.steps);
  if (wire > 0) ns += ramp * wire / (wire + model.ramp_bytes);
  ns += quotient(wire, bandwidth(machine, model, bytes, place)) +
        quotient(own, model.local_bytes_per_s);
  return ns + machine.network.latency_ns * route.network_hops;
}

}  // namespace

GroupPlace place_group(const Machine& machine, std::span<const int32_t> members) {
  const auto per_host = std::max<int64_t>(1, static_cast<int64_t>(machine.ranks_per_host));
  GroupPlace place;
  place.ranks = static_cast<int64_t>(members.size());
  place.ranks_on_smallest_host = place.ranks;
  // This runs for every member of every collective. Members are mostly sorted, so avoid the sort.
  std::vector<int64_t> hosts;
  hosts.reserve(members.size());
  for (const int32_t rank : members) hosts.push_back(rank / per_host);
  if (!std::is_sorted(hosts.begin(), hosts.end())) std::sort(hosts.begin(), hosts.end());
  int64_t found = 0;
  for (auto at = hosts.begin(); at != hosts.end(); ++found) {
    const auto next = std::upper_bound(at, hosts.end(), *at);
    place.ranks_on_smallest_host = std::min<int64_t>(place.ranks_on_smallest_host, next - at);
    at = next;
  }
  place.hosts = std::max<int64_t>(1, found);
  return place;
}

double wire_bytes(OpKind kind, double bytes, int64_t ranks) {
  const Wire wire = record(kind).communication.wire;
  if (wire == Wire::kAll) return bytes;
  const double others = ranks > 0 ? static_cast<double>(ranks - 1) / static_cast<double>(ranks) : 0;
  return bytes * others * (wire == Wire::kTwiceOthers ? 2 : 1);
}

double collective_ns(const Machine& machine, OpKind kind, double bytes, const GroupPlace& place) {
  if (place.ranks <= 1) return 0;
  const double ring = route_ns(machine, kind, bytes, place, ring_of(kind, bytes, place));
  if (!record(kind).communication.has_tree || place.hosts <= 1) return ring;
  return std::min(ring, route_ns(machine, kind, bytes, place, tree_of(bytes, place)));
}

}  // namespace hostir
