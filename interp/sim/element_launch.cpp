// One element of a launch's output: runs the whole kernel if it is small, and its ops one by one.
#include <algorithm>
#include <cstring>

#include "interp/core/code/buffer_layout.h"
#include "interp/core/code/launch_operands.h"
#include "interp/sim/backend_state.h"
#include "interp/sim/element_values.h"

namespace hostir::sim {

namespace {

// Takes a few milliseconds, short enough for interactive use.
constexpr double kMostFlops = 5e7;
constexpr double kMostBytes = 16e6;

bool is_small(const LaunchPlan& plan) {
  double bytes = 0;
  for (const Placement& p : plan.bound.values) bytes += static_cast<double>(p.local_bytes());
  return plan.work.flops <= kMostFlops && bytes <= kMostBytes;
}

// The index of a buffer that is index 0 in the kernel's coordinates. A kernel with a sharding rule
// of its own works on the part as if it were whole.
std::vector<int64_t> origin_in_kernel(const kernels::BoundKernel& kernel, const Placement& buffer) {
  return kernel.function->rule.empty() ? std::vector<int64_t>(buffer.box.lo.size(), 0)
                                       : buffer.box.lo;
}

Box moved(Box box, const std::vector<int64_t>& by, int64_t sign) {
  for (size_t d = 0; d < by.size(); ++d) {
    box.lo[d] += sign * by[d];
    box.hi[d] += sign * by[d];
  }
  return box;
}

}  // namespace

// The current bytes of a buffer's allocation; undefined ones show the poison pattern.
ChunkRef SimBackend::contents(Rank rank, const BufferRef& ref) const {
  const ChunkRef chunk = state_.memory.look(rank, ref.allocation);
  const int64_t needed = ref.offset_bytes + ref.size_bytes;
  if (chunk && chunk->size_bytes() >= needed) return chunk;
  ChunkRef undefined = ChunkRef::make(needed);
  std::memset(undefined->data(), 0xFF, static_cast<size_t>(needed));
  return undefined;
}

// Runs the launch's own kernel on separate memory, with packed weights as in the launch.
Expected<Tensor> SimBackend::run_whole(LaunchPlan& plan, const interp::LaunchQuery& query,
                                       size_t result) const {
  const LaunchRoles roles = roles_of(query.buffers);
  std::vector<ChunkRef> chunks;
  std::vector<std::vector<std::byte>> copies;
  std::vector<cpu::ConstMemory> in;
  for (const size_t i : roles.parameters) {
    const BufferRef& ref = query.buffers[i];
    const ChunkRef& chunk = chunks.emplace_back(contents(query.rank, ref));
    const std::byte* data = chunk->data() + ref.offset_bytes;
    const int64_t bytes = ref.placement->local_bytes();
    if (ref.strides_elems.empty() || is_dense(ref, *ref.placement)) {
      const bool versioned = ref.access == Access::kRead && ref.offset_bytes == 0;
      in.push_back({data, bytes, versioned ? chunk->version() : 0});
      continue;
    }
    auto& copy = copies.emplace_back(static_cast<size_t>(bytes));
    gather(ref, *ref.placement, ref.placement->box, data, copy.data());
    in.push_back({copy.data(), bytes, 0});
  }
  std::vector<std::vector<std::byte>> written;
  std::vector<cpu::Memory> out;
  for (const size_t i : roles.results) {
    const BufferRef& ref = query.buffers[i];
    const Placement& placement = ref.after != nullptr ? *ref.after : *ref.placement;
    auto& memory = written.emplace_back(
        static_cast<size_t>(std::max(placement.local_bytes(), ref.placement->local_bytes())));
    out.push_back({memory.data(), ref.placement->local_bytes()});
  }
  for (size_t p = 0; p < in.size(); ++p) {
    if (in[p].version == 0 || !plan.packed.emplace(p, in[p].version).second) continue;
    plan.kernel->prepack(p, in[p]);
  }
  plan.kernel->run(in, out);
  const BufferRef& ref = query.buffers[roles.results[result]];
  const Placement& placement = ref.after != nullptr ? *ref.after : *ref.placement;
  Box at{query.element, query.element};
  for (int64_t& hi : at.hi) ++hi;
  return part_of(placement, written[result].data(), at);
}

Expected<interp::LaunchElement> SimBackend::launch_element(const interp::LaunchQuery& query) {
  const LaunchRoles roles = roles_of(query.buffers);
  const auto operands = interp::placements_of(query.buffers, roles);
  size_t result = 0;
  while (result < roles.results.size() && roles.results[result] != query.written) ++result;
  if (result == roles.results.size()) {
    return fail(ErrorKind::kRuntime, "no_element", "the launch does not write this buffer");
  }
  HOSTIR_ASSIGN_OR_RETURN(LaunchPlan * plan, plans_.find(query.code, query.rank,
                                                         operands.parameters, operands.results));
  HOSTIR_ASSIGN_OR_RETURN(const Function* kernel, interp::launched_kernel(*code_, query.code));
  // The plan may have been made for another rank's part of the values.
  HOSTIR_ASSIGN_OR_RETURN(const kernels::BoundKernel bound,
                          kernels::bind_kernel(*code_->program, *kernel, query.rank,
                                               operands.parameters, operands.results));
  interp::LaunchElement out;
  out.kernel = bound.function;
  out.values = bound.values;
  for (const size_t i : roles.parameters) out.buffer_of_parameter.push_back(static_cast<int>(i));
  const ReadParameter read = [&](size_t p, const Box& in_kernel) {
    const Box box = moved(in_kernel, origin_in_kernel(bound, *operands.parameters[p]), +1);
    const BufferRef& ref = query.buffers[roles.parameters[p]];
    const ChunkRef chunk = contents(query.rank, ref);
    const std::byte* data = chunk->data() + ref.offset_bytes;
    if (!ref.placement->blocks.empty())
      return std::vector<std::byte>(data, data + ref.placement->local_bytes());
    Tensor part = Tensor::zeros(ref.placement->dtype, box.extents());
    if (!part.data.empty()) gather(ref, *ref.placement, box, data, part.data.data());
    return std::move(part.data);
  };
  out.ran_whole = is_small(*plan);
  const ElementExtent extent = out.ran_whole ? ElementExtent::kWhole : ElementExtent::kNeeded;
  const Box asked =
      moved({query.element, query.element}, origin_in_kernel(bound, *operands.results[result]), -1);
  HOSTIR_ASSIGN_OR_RETURN(
      EvaluatedElement evaluated,
      evaluate_element(*code_->program, bound, options_.kernels, extent, result, asked.lo, read));
  out.steps = std::move(evaluated.steps);
  out.value = std::move(evaluated.value);
  if (out.ran_whole) {
    HOSTIR_ASSIGN_OR_RETURN(out.value, run_whole(*plan, query, result));
    if (out.steps.empty()) return out;
    // A product that runs alone may add in another order than in the launch, which reads its
    // operands through index maps. So the last step shows the launch's number.
    for (interp::ElementPart& part : out.steps.back().makes) {
      if (part.tensor.element_count() == 1 && part.tensor.dtype == out.value.dtype)
        part.tensor.data = out.value.data;
    }
  }
  return out;
}

}  // namespace hostir::sim
