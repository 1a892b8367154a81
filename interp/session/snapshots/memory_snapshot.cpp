#include "interp/session/snapshots/memory_snapshot.h"

#include "interp/session/snapshots/snapshot_builder.h"

namespace hostir::interp {
namespace {

std::string plain_name(std::string name) {
  if (name.starts_with('%')) name.erase(0, 1);
  return name;
}

AllocationSnapshot snapshot_of(const Code& code, const AllocationView& a) {
  AllocationSnapshot out;
  out.id = a.id;
  out.name = a.reg == kNoRegister ? "" : plain_name(code.register_name(a.reg));
  LayoutIndex layout = a.layout;
  if (layout == kNoLayout && a.reg != kNoRegister) layout = code.registers[a.reg].layout;
  if (layout != kNoLayout) out.type = code.layouts[layout].type;
  if (a.placement) out.placement = *a.placement;
  out.bytes = a.bytes;
  out.version = a.version;
  out.parameter = a.parameter;
  out.written = a.initialised || a.version > 0;
  out.last_writer = a.written_task;
  if (a.version > 0 && a.written_by != kNoCode) out.written_by = code.address(a.written_by);
  return out;
}

}  // namespace

MemorySnapshot make_memory_snapshot(const Interpreter& interpreter, Rank rank) {
  MemorySnapshot out;
  out.rank = rank;
  out.live_bytes = interpreter.live_bytes(rank);
  out.peak_bytes = interpreter.peak_bytes(rank);
  for (const AllocationView& a : interpreter.allocations(rank))
    out.allocations.push_back(snapshot_of(interpreter.code(), a));
  return out;
}

}  // namespace hostir::interp
