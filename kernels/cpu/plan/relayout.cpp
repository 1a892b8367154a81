#include "kernels/cpu/plan/relayout.h"

#include "kernels/cpu/reference/reference_support.h"

namespace hostir::cpu {

void relayout(const Placement& from, ConstMemory source, const Placement& to, Memory target) {
  const int64_t element = size_bytes(to.dtype);
  const std::vector<Box> from_runs = from.runs();
  std::byte* write = target.data;
  for (const Box& to_run : to.runs()) {
    const std::byte* read = source.data;
    for (const Box& from_run : from_runs) {
      copy_box(from_run, read, to_run, write, element);
      read += from_run.volume() * element;
    }
    write += to_run.volume() * element;
  }
}

}  // namespace hostir::cpu
