#include "interp/sim/launch_plans.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hostir/ops/record.h"
#include "interp/sim/bind_kernel.h"

namespace hostir::sim {

namespace {

using Placements = std::span<const Placement* const>;

const Function* kernel_of(const interp::Code& code, interp::CodeIndex index) {
  const auto* name = code.source(index).attributes.get<Symbol>("kernel");
  return name == nullptr ? nullptr : code.program->find_function(name->name);
}

// A launch inside `where` may never run on a rank for which it cannot be bound.
bool is_conditional(const interp::Code& code, interp::CodeIndex index) {
  for (auto at = code.instructions[index].parent; at != interp::kNoCode;
       at = code.instructions[at].parent) {
    if (record(code.instructions[at].kind).role == HostRole::kBranch) return true;
  }
  return false;
}

// Static placements of the operands, parameters first; empty if one is not static or if this rank
// has no part in any of them.
struct StaticOperands {
  std::vector<const Placement*> parameters;
  std::vector<const Placement*> results;
};
std::optional<StaticOperands> static_operands(const interp::Code& code, interp::CodeIndex index,
                                              interp::Rank rank) {
  const interp::CodeInstruction& c = code.instructions[index];
  const Instruction& source = code.source(index);
  std::vector<interp::BufferRef> buffers;
  bool held = false;
  for (size_t i = 0; i < source.operands.size(); ++i) {
    if (source.operands[i].access == Access::kUse || !source.operands[i].value.valid()) continue;
    const auto table = [&](const std::vector<interp::LayoutIndex>& layouts) -> const Placement* {
      if (i >= layouts.size() || layouts[i] == interp::kNoLayout) return nullptr;
      const interp::LayoutTable& layout = code.layouts[layouts[i]];
      return layout.is_static() ? &layout.by_rank[static_cast<size_t>(rank)] : nullptr;
    };
    interp::BufferRef& ref = buffers.emplace_back();
    ref.access = source.operands[i].access;
    ref.placement = table(c.layouts);
    ref.after = table(c.becomes);
    if (ref.placement == nullptr) return std::nullopt;
    held = held || !ref.placement->box.empty();
  }
  if (!held) return std::nullopt;
  const LaunchRoles roles = roles_of(buffers);
  StaticOperands out;
  for (const size_t i : roles.parameters) out.parameters.push_back(buffers[i].placement);
  for (const size_t i : roles.results) {
    out.results.push_back(buffers[i].after != nullptr ? buffers[i].after : buffers[i].placement);
  }
  return out;
}

bool same_values(const cpu::BoundKernel& a, const cpu::BoundKernel& b) {
  return a.is_partial_root == b.is_partial_root && a.values == b.values;
}

double bytes_of(Placements placements) {
  double bytes = 0;
  for (const Placement* p : placements) bytes += static_cast<double>(p->local_bytes());
  return bytes;
}

}  // namespace

LaunchRoles roles_of(std::span<const interp::BufferRef> buffers) {
  LaunchRoles roles;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].access == Access::kRead) roles.parameters.push_back(i);
    if (buffers[i].access == Access::kWrite) roles.results.push_back(i);
  }
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].access != Access::kReadWrite) continue;
    roles.parameters.push_back(i);
    roles.results.push_back(i);
  }
  return roles;
}

Expected<void> LaunchPlans::prepare(const interp::Code& code) {
  code_ = &code;
  for (interp::CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (record(code.instructions[i].kind).role != HostRole::kLaunch ||
        code.instructions[i].role != interp::CodeRole::kInstruction) {
      continue;
    }
    for (interp::Rank r = 0; r < code.rank_count; ++r) HOSTIR_TRY(prepare_launch(i, r));
  }
  return {};
}

Expected<void> LaunchPlans::prepare_launch(interp::CodeIndex code, interp::Rank rank) {
  const auto operands = static_operands(*code_, code, rank);
  if (!operands) return {};
  auto plan = find(code, rank, operands->parameters, operands->results);
  if (plan || is_conditional(*code_, code)) return {};
  Error error = std::move(plan.error());
  for (Diagnostic& d : error.diagnostics) {
    // The launch is what has to be put right; the kernel fits other operands.
    const SourceSpan kernel = std::exchange(d.span, code_->source(code).span);
    d.notes.push_back({fmt::format("rank {} at {} launch", rank, code_->address(code)), d.span});
    d.notes.push_back({"its kernel is here", kernel});
  }
  return tl::unexpected(std::move(error));
}

Expected<LaunchPlan*> LaunchPlans::find(interp::CodeIndex code, interp::Rank rank,
                                        Placements parameters, Placements results) {
  Recent& recent = recent_[{code, rank}];
  const auto same = [&] {
    return recent.plan != nullptr &&
           recent.placements.size() == parameters.size() + results.size() &&
           std::equal(parameters.begin(), parameters.end(), recent.placements.begin()) &&
           std::equal(results.begin(), results.end(),
                      recent.placements.begin() + static_cast<std::ptrdiff_t>(parameters.size()));
  };
  if (same()) return recent.plan;
  HOSTIR_ASSIGN_OR_RETURN(recent.plan, make(code, rank, parameters, results));
  recent.placements.assign(parameters.begin(), parameters.end());
  recent.placements.insert(recent.placements.end(), results.begin(), results.end());
  return recent.plan;
}

Expected<LaunchPlan*> LaunchPlans::make(interp::CodeIndex code, interp::Rank rank,
                                        Placements parameters, Placements results) {
  const Function* kernel = kernel_of(*code_, code);
  if (kernel == nullptr) {
    return fail_at(ErrorKind::kInvalid, "launch_kernel", "launch names no kernel of this file",
                   code_->source(code).span);
  }
  HOSTIR_ASSIGN_OR_RETURN(cpu::BoundKernel bound,
                          bind_kernel(*code_->program, *kernel, rank, parameters, results));
  auto& known = plans_[kernel];
  for (const auto& plan : known) {
    if (same_values(plan->bound, bound)) return plan.get();
  }
  auto plan = std::make_unique<LaunchPlan>();
  HOSTIR_ASSIGN_OR_RETURN(plan->kernel, cpu::compile(bound, set_));
  plan->work = work_of(*kernel, bound, parameters, results);
  plan->duration_ns =
      std::max<int64_t>(1, static_cast<int64_t>(plan->work.limit_ns + machine_.launch_ns));
  plan->bound = std::move(bound);
  return known.emplace_back(std::move(plan)).get();
}

const LaunchPlan* LaunchPlans::last(interp::CodeIndex code, interp::Rank rank) const {
  const auto found = recent_.find({code, rank});
  return found == recent_.end() ? nullptr : found->second.plan;
}

// The limit is max(arithmetic, memory traffic of the operands): values inside a kernel stay on the
// chip.
interp::KernelWork LaunchPlans::work_of(const Function& kernel, const cpu::BoundKernel& bound,
                                        Placements parameters, Placements results) const {
  interp::KernelWork work;
  double arithmetic_s = 0;
  for (const InstrId id : kernel.preorder()) {
    const Instruction& instruction = kernel.instr(id);
    const OpRecord& op = record(instruction.kind);
    if (op.cost == nullptr) continue;
    const std::vector<Type> types = operand_types(kernel, instruction);
    const std::vector<Type> written = written_types(kernel, instruction);
    std::vector<Extents> in;
    std::vector<Extents> out;
    for (const Operand& o : instruction.operands) {
      if (o.value.valid()) in.push_back(bound.values[o.value.index].local());
    }
    for (const ValueId v : instruction.results) out.push_back(bound.values[v.index].local());
    const OpCall call{instruction.kind,     types,  instruction.attributes, &instruction, &kernel,
                      code_->program.get(), written};
    const DType dtype =
        op.shape == OpShape::kContraction && !types.empty() ? dtype_of(types[0]) : DType::kF32;
    const double rate = machine_.flops(dtype);
    const double flops = op.cost(call, in, out).flops;
    work.flops += flops;
    if (rate > 0) arithmetic_s += flops / rate;
  }
  work.read_bytes = bytes_of(parameters);
  work.write_bytes = bytes_of(results);
  const double bandwidth = machine_.memory_bandwidth_bytes_per_s;
  const double memory_s = bandwidth > 0 ? (work.read_bytes + work.write_bytes) / bandwidth : 0;
  work.limit_ns = std::max(arithmetic_s, memory_s) * 1e9;
  return work;
}

}  // namespace hostir::sim
