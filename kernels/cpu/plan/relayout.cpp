#include "kernels/cpu/plan/relayout.h"

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

namespace {

/// The contiguous runs of a placement's memory, each row-major over its box.
std::vector<Box> runs_of(const Placement& placement) {
  if (placement.blocks.empty()) return {placement.box};
  std::vector<Box> runs;
  runs.reserve(placement.blocks.size());
  for (const Box& block : placement.blocks) runs.push_back(block.intersect(placement.box));
  return runs;
}

}  // namespace

void relayout(const Placement& from, ConstMemory source, const Placement& to, Memory target) {
  const int64_t element = size_bytes(to.dtype);
  const std::vector<Box> from_runs = runs_of(from);
  std::byte* write = target.data;
  for (const Box& to_run : runs_of(to)) {
    const std::byte* read = source.data;
    for (const Box& from_run : from_runs) {
      copy_box(from_run, read, to_run, write, element);
      read += from_run.volume() * element;
    }
    write += to_run.volume() * element;
  }
}

}  // namespace hostir::cpu
