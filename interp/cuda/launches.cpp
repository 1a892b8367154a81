// Launches: finds kernels, compiles them for the rank's device, runs them on its buffers.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "hostir/ops/record.h"
#include "interp/core/code/buffer_layout.h"
#include "interp/cuda/device_backend.h"
#include "kernels/common/kernel_work.h"

namespace hostir::cuda {

Expected<KernelPlan*> DeviceBackend::find_kernel(CodeIndex code, Rank rank,
                                                 const interp::LaunchPlacements& operands) {
  HOSTIR_ASSIGN_OR_RETURN(const Function* kernel, interp::launched_kernel(*code_, code));
  return kernels_.find(*code_->program,
                       {code, rank, kernel, operands.parameters, operands.results});
}

Expected<std::shared_ptr<const DeviceKernel>> DeviceBackend::kernel_on(KernelPlan& plan,
                                                                       Device& device) {
  auto& known = plan.kernels[&device];
  if (known == nullptr) {
    HOSTIR_ASSIGN_OR_RETURN(known, device.compile(plan.bound));
  }
  return known;
}

Expected<std::unique_ptr<interp::TaskPlan>> DeviceBackend::plan(const interp::Task& task) {
  if (!task.items.empty() ||
      record(code_->instructions[task.code].kind).role != HostRole::kLaunch) {
    return nullptr;
  }
  auto out = std::make_unique<LaunchTaskPlan>();
  out->roles = interp::roles_of(task.buffers);
  HOSTIR_ASSIGN_OR_RETURN(
      KernelPlan * kernel,
      find_kernel(task.code, task.rank, interp::placements_of(task.buffers, out->roles)));
  HOSTIR_ASSIGN_OR_RETURN(out->kernel,
                          kernel_on(*kernel, *device_of_[static_cast<size_t>(task.rank)]));
  last_kernel_[{task.code, task.rank}] = kernel;
  for (const BufferRef& ref : task.buffers) {
    const bool dense = ref.strides_elems.empty() || interp::is_dense(ref, *ref.placement);
    out->dense.push_back(dense);
    out->all_dense = out->all_dense && dense;
    if (!dense && ref.strides_elems.size() > kMostDimensions) {
      return fail(ErrorKind::kRuntime, "cuda_view",
                  fmt::format("a view of {} dimensions; the device copies at most {}",
                              ref.strides_elems.size(), kMostDimensions));
    }
  }
  return out;
}

void DeviceBackend::copy_view(Queue& queue, const BufferRef& ref, std::byte* view, std::byte* dense,
                              bool to_dense) {
  const Extents extents = ref.placement->local();
  Extents strides(extents.size(), 1);
  for (size_t d = extents.size(); d-- > 1;) strides[d - 1] = strides[d] * extents[d];
  StridedCopy copy;
  copy.element_bytes = size_bytes(ref.placement->dtype);
  copy.extents = extents;
  copy.from = to_dense ? view : dense;
  copy.to = to_dense ? dense : view;
  copy.from_strides = to_dense ? ref.strides_elems : strides;
  copy.to_strides = to_dense ? strides : ref.strides_elems;
  queue.device->copy(copy, queue.stream);
}

// Launches on a stream run one after the other, so they share scratch memory; large blocks are not
// kept.
void* DeviceBackend::take_scratch(Queue& queue, int64_t bytes) {
  constexpr int64_t kMostKept = int64_t{128} << 20;
  if (bytes > kMostKept && !uses_graphs()) return take_memory(*queue.device, bytes, queue.stream);
  if (queue.scratch_bytes < bytes) {
    if (queue.scratch != nullptr) {
      queue.device->release(std::exchange(queue.scratch, nullptr), queue.stream);
      queue.scratch_bytes = 0;
    }
    queue.scratch = static_cast<std::byte*>(take_memory(*queue.device, bytes, queue.stream));
    queue.scratch_bytes = queue.scratch == nullptr ? 0 : bytes;
  }
  return queue.scratch;
}

// Fills in the addresses of dense operands, if they are not those of the last launch.
void DeviceBackend::find_addresses(const Held& task, LaunchTaskPlan& plan) {
  const uint64_t version = memory_[static_cast<size_t>(task.rank)].version;
  const auto is_same = [](const BufferRef& ref, const std::pair<AllocationId, int64_t>& last) {
    return ref.allocation == last.first && ref.offset_bytes == last.second;
  };
  if (plan.memory_version == version &&
      std::equal(task.buffers.begin(), task.buffers.end(), plan.at.begin(), is_same)) {
    return;
  }
  plan.memory_version = version;
  plan.at.clear();
  plan.in.clear();
  plan.out.clear();
  for (const BufferRef& ref : task.buffers) plan.at.emplace_back(ref.allocation, ref.offset_bytes);
  for (const size_t i : plan.roles.parameters)
    plan.in.push_back(address(task.rank, task.buffers[i]));
  for (const size_t i : plan.roles.results) plan.out.push_back(address(task.rank, task.buffers[i]));
}

// Views that are not dense are copied through scratch memory.
void DeviceBackend::launch(Queue& queue, const Held& task) {
  LaunchTaskPlan& plan = *task.plan;
  find_addresses(task, plan);
  std::vector<std::byte*> scratch(plan.all_dense ? 0 : task.buffers.size(), nullptr);
  for (size_t i = 0; i < scratch.size(); ++i) {
    const BufferRef& ref = task.buffers[i];
    if (plan.dense[i] || ref.placement->local_bytes() == 0) continue;
    scratch[i] = static_cast<std::byte*>(
        take_memory(*queue.device, ref.placement->local_bytes(), queue.stream));
    if (scratch[i] == nullptr) {
      fail_task(task.id, "max_memory", "out of device memory while copying a view");
      return;
    }
    if (ref.access != Access::kWrite) {
      copy_view(queue, ref, address(task.rank, ref), scratch[i], true);
    }
  }
  if (!plan.all_dense) {
    plan.memory_version = 0;  // scratch memory lasts for one launch
    for (size_t p = 0; p < plan.in.size(); ++p) {
      if (std::byte* copy = scratch[plan.roles.parameters[p]]) plan.in[p] = copy;
    }
    for (size_t r = 0; r < plan.out.size(); ++r) {
      if (std::byte* copy = scratch[plan.roles.results[r]]) plan.out[r] = copy;
    }
  }
  const int64_t workspace_bytes = plan.kernel->scratch_bytes();
  void* workspace = workspace_bytes > 0 ? take_scratch(queue, workspace_bytes) : nullptr;
  if (workspace_bytes > 0 && workspace == nullptr) {
    fail_task(
        task.id, "max_memory",
        fmt::format("out of device memory: {} bytes for the kernel's workspace", workspace_bytes));
    return;
  }
  plan.kernel->launch(queue.stream, plan.in, plan.out, workspace);
  if (workspace != nullptr && workspace != queue.scratch)
    queue.device->release(workspace, queue.stream);
  for (size_t i = 0; i < scratch.size(); ++i) {
    if (scratch[i] == nullptr) continue;
    const BufferRef& ref = task.buffers[i];
    if (ref.access != Access::kRead) {
      copy_view(queue, ref, address(task.rank, ref), scratch[i], false);
    }
    queue.device->release(scratch[i], queue.stream);
  }
}

std::string DeviceBackend::describe(CodeIndex code, Rank rank) const {
  if (!is_local(rank)) return {};
  const KernelPlan* plan = kernels_.last(code, rank);
  if (plan == nullptr) return {};
  const auto found = plan->kernels.find(device_of_[static_cast<size_t>(rank)]);
  return found == plan->kernels.end() || found->second == nullptr ? std::string()
                                                                  : found->second->description();
}

kernels::KernelWork DeviceBackend::kernel_work(CodeIndex code, Rank rank) const {
  const KernelPlan* plan = kernels_.last(code, rank);
  if (plan == nullptr) return {};
  return kernels::kernel_work(*code_->program, plan->bound, options_.machine);
}

}  // namespace hostir::cuda
