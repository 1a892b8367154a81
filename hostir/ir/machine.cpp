#include "hostir/ir/machine.h"

#include <algorithm>

namespace hostir {

namespace {

size_t communication_index(OpKind kind) {
  const auto* found = std::find(kCommunicationOps.begin(), kCommunicationOps.end(), kind);
  return found == kCommunicationOps.end() ? 0
                                          : static_cast<size_t>(found - kCommunicationOps.begin());
}

// The address of a field's number; `M` is Machine or const Machine.
template <class M>
struct Locate {
  M& machine;
  auto* operator()(double Machine::*member) const { return &(machine.*member); }
  auto* operator()(const MachineField::OfLink& f) const { return &(machine.*f.link.*f.member); }
  auto* operator()(const MachineField::OfDType& f) const { return &machine.flops_per_s[f.index]; }
  auto* operator()(const MachineField::OfCollective& f) const {
    return &(machine.collectives[f.index].*f.member);
  }
};

}  // namespace

double Machine::flops(DType dtype) const {
  const auto index = static_cast<size_t>(dtype);
  if (flops_per_s[index] > 0) return flops_per_s[index];
  double best = 0;
  int64_t best_bytes = 0;
  for (const DType other : kAllDTypes) {
    const double given = flops_per_s[static_cast<size_t>(other)];
    const int64_t bytes = size_bytes(other);
    if (given <= 0 || bytes < size_bytes(dtype) || (best_bytes != 0 && bytes >= best_bytes))
      continue;
    best = given;
    best_bytes = bytes;
  }
  return best;
}

const CollectiveModel& Machine::model(OpKind kind) const {
  return collectives[communication_index(kind)];
}

double MachineField::get(const Machine& machine) const {
  return *std::visit(Locate<const Machine>{machine}, where);
}

void MachineField::set(Machine& machine, double value) const {
  *std::visit(Locate<Machine>{machine}, where) = value;
}

const MachineField* find_machine_field(std::string_view name) {
  const auto fields = machine_fields();
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const MachineField& f) { return f.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

const Machine* find_builtin_machine(std::string_view name) {
  const auto machines = builtin_machines();
  const auto found = std::find_if(machines.begin(), machines.end(),
                                  [&](const Machine& m) { return m.name == name; });
  return found == machines.end() ? nullptr : &*found;
}

const Machine& default_machine() { return builtin_machines().front(); }

}  // namespace hostir
