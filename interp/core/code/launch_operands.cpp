#include "interp/core/code/launch_operands.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "hostir/ops/record.h"
#include "interp/core/claims/claims.h"

namespace hostir::interp {

namespace {

// A launch inside `where` may never run on a rank on which it cannot be bound.
bool is_conditional(const Code& code, CodeIndex index) {
  for (auto at = code.instructions[index].parent; at != kNoCode;
       at = code.instructions[at].parent) {
    if (record(code.instructions[at].kind).role == HostRole::kBranch) return true;
  }
  return false;
}

// Static placements of the operands, parameters first; empty if one is not static or if this rank
// has no part of any.
std::optional<LaunchPlacements> static_operands(const Code& code, CodeIndex index, Rank rank) {
  const CodeInstruction& c = code.instructions[index];
  const Instruction& source = code.source(index);
  std::vector<BufferRef> buffers;
  bool held = false;
  for (size_t i = 0; i < source.operands.size(); ++i) {
    if (source.operands[i].access == Access::kUse || !source.operands[i].value.valid()) continue;
    const auto table = [&](const std::vector<LayoutIndex>& layouts) -> const Placement* {
      if (i >= layouts.size() || layouts[i] == kNoLayout) return nullptr;
      const LayoutTable& layout = code.layouts[layouts[i]];
      return layout.is_static() ? &layout.by_rank[static_cast<size_t>(rank)] : nullptr;
    };
    BufferRef& ref = buffers.emplace_back();
    ref.access = source.operands[i].access;
    ref.placement = table(c.layouts);
    ref.after = table(c.becomes);
    if (ref.placement == nullptr) return std::nullopt;
    held = held || !ref.placement->box.empty();
  }
  if (!held) return std::nullopt;
  return placements_of(buffers, roles_of(buffers));
}

// `; %a is %x` for each parameter and result of the kernel that the launch calls by another name.
std::string names_in_launch(const Code& code, CodeIndex index) {
  const auto launch = claims::launch_of(code, index);
  if (!launch) return "";
  std::string out;
  const auto add = [&](ValueId value, size_t operand) {
    const std::string& name = launch->kernel.value(value).name;
    const std::string buffer = claims::buffer_name(code, launch->c, operand);
    if (buffer == "%" + name) return;
    out += fmt::format("{} %{} is {}", out.empty() ? ";" : ",", name, buffer);
  };
  const Region& body = launch->kernel.region(launch->kernel.body);
  const std::vector<Operand>& returned = launch->kernel.instr(body.instructions.back()).operands;
  for (size_t p = 0; p < launch->in.size(); ++p) add(launch->kernel.params[p].value, launch->in[p]);
  for (size_t r = 0; r < launch->out.size() && r < returned.size(); ++r)
    add(returned[r].value, launch->out[r]);
  return out;
}

// Point at the launch, which is wrong; the kernel may be right for other operands.
Error at_launch(Error error, const Code& code, CodeIndex index, Rank rank) {
  for (Diagnostic& d : error.diagnostics) {
    const SourceSpan kernel = std::exchange(d.span, code.source(index).span);
    d.notes.push_back({fmt::format("rank {} at {} launch", rank, code.address(index)), d.span});
    d.notes.push_back({"its kernel is here" + names_in_launch(code, index), kernel});
  }
  return error;
}

}  // namespace

LaunchRoles roles_of(std::span<const BufferRef> buffers) {
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

LaunchPlacements placements_of(std::span<const BufferRef> buffers, const LaunchRoles& roles) {
  LaunchPlacements out;
  for (const size_t i : roles.parameters) out.parameters.push_back(buffers[i].placement);
  for (const size_t i : roles.results) {
    out.results.push_back(buffers[i].after != nullptr ? buffers[i].after : buffers[i].placement);
  }
  return out;
}

Expected<const Function*> launched_kernel(const Code& code, CodeIndex index) {
  const auto* name = code.source(index).attributes.get<Symbol>("kernel");
  const Function* kernel = name == nullptr ? nullptr : code.program->find_function(name->name);
  if (kernel != nullptr) return kernel;
  return fail_at(ErrorKind::kInvalid, "launch_kernel", "launch names no kernel of this file",
                 code.source(index).span);
}

Expected<void> prepare_static_launches(const Code& code, const PrepareLaunch& prepare, Rank ranks) {
  for (CodeIndex i = 0; i < code.instructions.size(); ++i) {
    if (record(code.instructions[i].kind).role != HostRole::kLaunch ||
        code.instructions[i].role != CodeRole::kInstruction) {
      continue;
    }
    for (Rank r = 0; r < std::min(code.rank_count, ranks); ++r) {
      const auto operands = static_operands(code, i, r);
      if (!operands) continue;
      auto done = prepare(i, r, *operands);
      if (done || is_conditional(code, i)) continue;
      return tl::unexpected(at_launch(std::move(done.error()), code, i, r));
    }
  }
  return {};
}

}  // namespace hostir::interp
