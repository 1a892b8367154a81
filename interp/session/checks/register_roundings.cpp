#include "interp/session/checks/register_roundings.h"

#include "hostir/ir/access.h"
#include "hostir/ops/record.h"
#include "interp/core/claims/claims.h"
#include "interp/session/checks/rounding_bounds.h"

namespace hostir::interp {
namespace {

/// Follows the flow of data between registers until nothing changes.
class RegisterFlow {
 public:
  explicit RegisterFlow(const Code& code) : code_(code), known_(code.registers.size()) {}

  std::vector<std::optional<DType>> run() {
    do {
      changed_ = false;
      for (CodeIndex i = 0; i < code_.instructions.size(); ++i) follow(i);
    } while (changed_);
    return known_;
  }

 private:
  void enter(uint32_t reg, std::optional<DType> rounded) {
    if (reg == kNoRegister || !coarsen(known_[reg], rounded)) return;
    changed_ = true;
  }
  std::optional<DType> of(uint32_t reg) const {
    return reg == kNoRegister ? std::nullopt : known_[reg];
  }

  void follow(CodeIndex index) {
    const CodeInstruction& c = code_.instructions[index];
    for (const std::vector<RegisterMove>* moves : {&c.moves, &c.exit_moves}) {
      for (const RegisterMove& m : *moves) enter(m.to, of(m.from));
    }
    if (c.role != CodeRole::kInstruction) return;
    const HostRole role = record(c.kind).role;
    if (role == HostRole::kLaunch) return follow_launch(index);
    if (role == HostRole::kView) return follow_view(c);
    follow_operands(index);
  }

  void follow_launch(CodeIndex index) {
    const auto launch = claims::launch_of(code_, index);
    if (!launch) return;
    const CodeInstruction& c = launch->c;
    RoundingBounds bounds(launch->kernel, RoundingBounds::Order::kAnother);
    for (size_t p = 0; p < launch->in.size(); ++p) {
      if (const auto rounded = of(c.operands[launch->in[p]]))
        bounds.set_rounded(launch->kernel.params[p].value, *rounded);
    }
    const Region& body = launch->kernel.region(launch->kernel.body);
    for (const InstrId id : body.instructions) bounds.add(launch->kernel.instr(id));
    const std::vector<Operand>& returned = launch->kernel.instr(body.instructions.back()).operands;
    for (size_t r = 0; r < launch->out.size() && r < returned.size(); ++r)
      enter(c.operands[launch->out[r]], bounds.of(returned[r].value));
  }

  // A view and its buffer have the same elements.
  void follow_view(const CodeInstruction& c) {
    if (c.operands.empty() || c.results.empty()) return;
    enter(c.results.front(), of(c.operands.front()));
    enter(c.operands.front(), of(c.results.front()));
  }

  // Collectives: what is received may be what any member sends; sums round to their own dtype.
  void follow_operands(CodeIndex index) {
    const CodeInstruction& c = code_.instructions[index];
    const std::vector<Operand>& operands = code_.source(index).operands;
    std::optional<DType> rounded;
    for (size_t n = 0; n < operands.size() && n < c.operands.size(); ++n) {
      if (reads(operands[n].access)) coarsen(rounded, of(c.operands[n]));
    }
    for (size_t n = 0; n < operands.size() && n < c.operands.size(); ++n) {
      if (writes(operands[n].access)) enter(c.operands[n], rounded);
    }
  }

  const Code& code_;
  std::vector<std::optional<DType>> known_;
  bool changed_ = false;
};

}  // namespace

std::vector<std::optional<DType>> register_roundings(const Code& code) {
  return RegisterFlow(code).run();
}

}  // namespace hostir::interp
