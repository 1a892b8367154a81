#include "hostir/passes/host/host_peak.h"

#include <algorithm>

#include "hostir/passes/host/host_builder.h"
#include "hostir/passes/redistribute/redistribute_cost.h"

namespace hostir {

double allocated_peak(const Program& program, const Function& host) {
  const auto bytes = [&](ValueId buffer) {
    const Type& type = host.value(buffer).type;
    const Sharding* sharding = sharding_of(type);
    const Mesh* mesh = sharding != nullptr ? program.find_mesh(sharding->mesh) : nullptr;
    if (mesh == nullptr) return 0.0;
    return largest_local_elems(*mesh, shape_of(type), *sharding) *
           static_cast<double>(size_bytes(dtype_of(type)));
  };
  double now = 0;
  double peak = 0;
  for (const InstrId id : host.region(host.body).instructions) {
    const Instruction& i = host.instr(id);
    if (i.kind == OpKind::alloc) {
      const ValueId storage = slot_value(i, "storage");  // taken over from another buffer
      now += bytes(i.results.front()) - (storage.valid() ? bytes(storage) : 0.0);
      peak = std::max(peak, now);
    } else if (i.kind == OpKind::free) {
      now -= bytes(slot_value(i, "buffer"));
    }
  }
  return peak;
}

}  // namespace hostir
