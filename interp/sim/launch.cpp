// Runs a launch's kernel on the buffers of its rank.
#include "interp/core/code/buffer_layout.h"
#include "interp/sim/backend_state.h"

namespace hostir::sim {

namespace {

// Memory of a launch's operands while the kernel runs. Inputs are retained, so that outputs in the
// same allocation cannot change them. Views that are not dense are copied through scratch.
class LaunchMemory {
 public:
  LaunchMemory(SimMemory& memory, Rank rank, std::span<const BufferRef> buffers)
      : memory_(memory), rank_(rank), buffers_(buffers), pointers_(buffers.size()) {
    for (const Access access : {Access::kRead, Access::kWrite, Access::kReadWrite}) {
      for (size_t i = 0; i < buffers.size(); ++i) {
        if (buffers[i].access == access) open(i);
      }
    }
  }

  // Copies results from scratch to their views.
  void close() {
    for (const auto& [i, scratch] : scratch_) {
      if (buffers_[i].access == Access::kRead) continue;
      std::byte* to = memory_.writable(rank_, buffers_[i], SimMemory::Keep::kEverything);
      scatter(buffers_[i], *buffers_[i].placement, buffers_[i].placement->box, to, scratch->data());
    }
  }

  cpu::ConstMemory input(size_t i) const {
    const bool whole = retained(i) && buffers_[i].offset_bytes == 0;
    return {pointers_[i], buffers_[i].placement->local_bytes(),
            whole ? inputs_.at(i)->version() : 0};
  }
  cpu::Memory output(size_t i) const {
    return {pointers_[i], buffers_[i].placement->local_bytes()};
  }

 private:
  bool retained(size_t i) const { return inputs_.contains(i) && !scratch_.contains(i); }

  void open(size_t i) {
    const BufferRef& ref = buffers_[i];
    const bool dense = ref.strides_elems.empty() || is_dense(ref, *ref.placement);
    if (ref.access == Access::kRead || !dense) {
      ChunkRef& chunk = inputs_[i] = memory_.chunk(rank_, ref);
      pointers_[i] = chunk->data() + ref.offset_bytes;
    } else {
      pointers_[i] =
          memory_.writable(rank_, ref,
                           ref.access == Access::kWrite ? SimMemory::Keep::kNothingInRange
                                                        : SimMemory::Keep::kEverything);
    }
    if (dense) return;
    ChunkRef& scratch = scratch_[i] = ChunkRef::make(ref.placement->local_bytes());
    if (ref.access != Access::kWrite) {
      gather(ref, *ref.placement, ref.placement->box, pointers_[i], scratch->data());
    }
    pointers_[i] = scratch->data();
    inputs_.erase(i);
  }

  SimMemory& memory_;
  Rank rank_;
  std::span<const BufferRef> buffers_;
  std::vector<std::byte*> pointers_;
  std::map<size_t, ChunkRef> inputs_;
  std::map<size_t, ChunkRef> scratch_;
};

}  // namespace

void SimBackend::launch(const StoredTask& task) {
  const LaunchRoles roles = roles_of(task.buffers);
  LaunchMemory memory(state_.memory, interp::task_rank(task.id), task.buffers);
  std::vector<cpu::ConstMemory> in;
  std::vector<cpu::Memory> out;
  for (const size_t i : roles.parameters) in.push_back(memory.input(i));
  for (const size_t i : roles.results) out.push_back(memory.output(i));
  for (size_t p = 0; p < in.size(); ++p) {
    if (in[p].version == 0 || !task.plan->packed.emplace(p, in[p].version).second) continue;
    task.plan->kernel->prepack(p, in[p]);
  }
  task.plan->kernel->run(in, out);
  memory.close();
}

}  // namespace hostir::sim
