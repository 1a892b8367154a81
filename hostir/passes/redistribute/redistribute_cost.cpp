#include "hostir/passes/redistribute/redistribute_cost.h"

#include <algorithm>

#include "hostir/passes/prepare/assumed_size.h"

namespace hostir {

namespace {

constexpr double kSmallestProgramBytes = 1 << 20;

OpKind op_of(StepKind kind) {
  switch (kind) {
    case StepKind::kReduceScatter:
      return OpKind::reduce_scatter;
    case StepKind::kAllGather:
      return OpKind::all_gather;
    case StepKind::kAllToAll:
      return OpKind::all_to_all;
    case StepKind::kPermute:
      return OpKind::permute;
    case StepKind::kBroadcast:
      return OpKind::broadcast;
    case StepKind::kReduce:
      return OpKind::reduce;
    case StepKind::kLocal:
    case StepKind::kRelabel:
    case StepKind::kAllReduce:
      break;
  }
  return OpKind::all_reduce;
}

}  // namespace

double largest_local_elems(const Mesh& mesh, const Shape& shape, const Sharding& sharding) {
  double out = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t n = assumed_size(shape[d]);
    if (d < sharding.dims.size()) {
      const DimSharding& dim = sharding.dims[d];
      if (dim.block != 0) {
        int64_t largest = 0;
        for (const Range& part : parts_of(mesh, dim, n))
          largest = std::max(largest, part.hi - part.lo);
        n = largest;
      } else {
        int64_t units = units_in(n, dim.unit);
        for (const AxisRef& a : dim.axes) units = units_in(units, mesh.axis_size(a));
        n = std::min(n, units * dim.unit);
      }
    }
    out *= static_cast<double>(n);
  }
  return out;
}

StepCost::StepCost(const Mesh& mesh, const Machine& machine, double largest_bytes)
    : mesh_(mesh),
      machine_(machine),
      scale_(std::max(1.0, kSmallestProgramBytes / std::max(1.0, largest_bytes))) {}

double StepCost::bytes_of(const TensorType& type, const Sharding& sharding) const {
  return largest_local_elems(mesh_, type.shape, sharding) *
         static_cast<double>(size_bytes(type.dtype));
}

const GroupPlace& StepCost::place_of(const AxisList& axes) const {
  const auto [at, is_new] = places_.try_emplace(axes_to_string(axes));
  if (is_new) {
    const std::vector<int64_t> group = groups_over(mesh_, axes).front();
    at->second = place_group(machine_, std::vector<int32_t>(group.begin(), group.end()));
  }
  return at->second;
}

double StepCost::kernel_ns(DType dtype, double flops, double bytes) const {
  double ns = machine_.launch_ns + machine_.issue_ns;
  if (machine_.memory_bandwidth_bytes_per_s > 0) {
    ns += scale_ * bytes / machine_.memory_bandwidth_bytes_per_s * 1e9;
  }
  if (machine_.flops(dtype) > 0) ns += scale_ * flops / machine_.flops(dtype) * 1e9;
  return ns;
}

double StepCost::transfer_ns(OpKind kind, double bytes, const GroupPlace& place) const {
  const double per_link = wire_bytes(kind, 1, place.ranks);
  const double counted = per_link > 0 ? bytes / per_link : bytes;
  return machine_.issue_ns + collective_ns(machine_, kind, scale_ * counted, place);
}

// The most bytes that a rank sends or receives in an exchange with blocks, in which usually only a
// border moves; nullopt for any other step.
std::optional<double> StepCost::moved_bytes(const TensorType& type, const Sharding& from,
                                            const RedistributeStep& step) const {
  const bool exchange = step.kind == StepKind::kAllToAll || step.kind == StepKind::kPermute;
  if (!exchange || !(has_blocks(from) || has_blocks(step.to))) return std::nullopt;
  const auto extents = constant_extents(type.shape);
  if (!extents) return std::nullopt;
  int64_t moved = 0;
  for (int64_t p = 0; p < mesh_.size(); ++p) {
    const Box before = shard_box(mesh_, from, *extents, p);
    const Box after = shard_box(mesh_, step.to, *extents, p);
    const int64_t stays = before.intersect(after).volume();
    moved = std::max(moved, std::max(before.volume(), after.volume()) - stays);
  }
  return static_cast<double>(moved * size_bytes(type.dtype));
}

double StepCost::step_bytes(const TensorType& type, const Sharding& from,
                            const RedistributeStep& step) const {
  if (step.kind == StepKind::kLocal) return 0;
  if (const auto moved = moved_bytes(type, from, step)) return *moved;
  const Sharding& larger = step.kind == StepKind::kAllGather ? step.to : from;
  return wire_bytes(op_of(step.kind), bytes_of(type, larger), place_of(step.axes).ranks);
}

double StepCost::start_ns(const RedistributeStep& step) const {
  if (step.kind == StepKind::kLocal) return 0;
  return machine_.issue_ns + collective_ns(machine_, op_of(step.kind), 0, place_of(step.axes));
}

double StepCost::step_ns(const TensorType& type, const Sharding& from,
                         const RedistributeStep& step) const {
  const double before = bytes_of(type, from);
  const double after = bytes_of(type, step.to);
  if (step.kind == StepKind::kLocal) return kernel_ns(type.dtype, 0, 2 * after);
  const double bytes = step.kind == StepKind::kAllGather ? after : before;
  const GroupPlace& place = place_of(step.axes);
  const auto moved = moved_bytes(type, from, step);
  double ns =
      moved ? transfer_ns(op_of(step.kind), *moved, place)
            : machine_.issue_ns + collective_ns(machine_, op_of(step.kind), scale_ * bytes, place);
  if (step.sent == Blocks::kCopied) ns += kernel_ns(type.dtype, 0, 2 * before);
  if (step.received == Blocks::kCopied) ns += kernel_ns(type.dtype, 0, 2 * after);
  return ns;
}

}  // namespace hostir
