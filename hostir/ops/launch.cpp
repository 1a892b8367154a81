#include <fmt/core.h>

#include "hostir/ops/shared_memory.h"

namespace hostir {

namespace {

using Slots = std::vector<ops::SlotOperand>;

Slots joined(const OpCall& call, std::string_view first) {
  Slots slots = ops::in_slot(call, first);
  const Slots updates = ops::in_slot(call, "updates");
  slots.insert(slots.end(), updates.begin(), updates.end());
  return slots;
}

ops::Violated check_launch_operands(const OpCall& call) {
  if (const ops::Violated bad = ops::check_handles(call)) return bad;
  for (const std::string_view slot : {"reads", "writes", "updates"}) {
    if (const ops::Violated bad = ops::check_buffer_slot(call, slot)) return bad;
  }
  return std::nullopt;
}

ops::Violated check_kernel(const OpCall& call) {
  const Function* kernel = ops::named_function(call, "kernel");
  if (kernel != nullptr && kernel->kind == FunctionKind::kKernel) return std::nullopt;
  const auto* symbol = call.attributes.get<Symbol>("kernel");
  return Violation{fmt::format("there is no kernel @{}", symbol != nullptr ? symbol->name : "")};
}

ops::Violated check_launch_counts(const OpCall& call) {
  const Function* kernel = ops::named_function(call, "kernel");
  if (kernel == nullptr) return std::nullopt;  // launch_c2
  const size_t in = joined(call, "reads").size();
  const size_t out = joined(call, "writes").size();
  if (in == kernel->params.size() && out == kernel->results.size()) return std::nullopt;
  return Violation{
      fmt::format("launch of @{} has {} inputs and {} outputs; the kernel has {} and {}",
                  kernel->name, in, out, kernel->params.size(), kernel->results.size())};
}

ops::Violated check_launch_type(const ops::SlotOperand& operand, const Type& wanted,
                                const Function& kernel) {
  if (operand.type == nullptr || ops::may_bind(*operand.type, wanted)) return std::nullopt;
  return Violation{fmt::format("launch of @{} passes {} where {} is expected", kernel.name,
                               ops::short_text(*operand.type), ops::short_text(wanted)),
                   static_cast<int>(operand.index)};
}

ops::Violated check_types(const OpCall& call) {
  const Function* kernel = ops::named_function(call, "kernel");
  if (kernel == nullptr || check_launch_counts(call)) return std::nullopt;
  const Slots in = joined(call, "reads");
  for (size_t i = 0; i < in.size(); ++i) {
    const Type& wanted = kernel->value(kernel->params[i].value).type;
    if (const ops::Violated bad = check_launch_type(in[i], wanted, *kernel)) return bad;
  }
  const Slots out = joined(call, "writes");
  for (size_t i = 0; i < out.size(); ++i) {
    const ops::Violated bad = check_launch_type(out[i], kernel->results[i].type, *kernel);
    if (bad) return bad;
  }
  return std::nullopt;
}

ops::Violated check_overlap(const OpCall& call) {
  for (const std::string_view slot : {"writes", "updates"}) {
    for (const ops::SlotOperand& written : ops::in_slot(call, slot)) {
      for (const std::string_view other : {"reads", "writes", "updates"}) {
        for (const ops::SlotOperand& o : ops::in_slot(call, other)) {
          if (o.type == nullptr || written.type == nullptr || o.index == written.index) continue;
          const Function& f = *call.function;
          if (!ops::surely_overlap(f, written.operand->value, o.operand->value)) continue;
          return Violation{
              fmt::format("launch writes %{}, which overlaps its operand %{}",
                          f.value(written.operand->value).name, f.value(o.operand->value).name),
              static_cast<int>(written.index)};
        }
      }
    }
  }
  return std::nullopt;
}

// A result declared `alias(%p)` must be the same buffer as the parameter.
ops::Violated check_aliases(const OpCall& call) {
  const Function* kernel = ops::named_function(call, "kernel");
  if (kernel == nullptr || check_launch_counts(call)) return std::nullopt;
  const Slots in = joined(call, "reads");
  const Slots out = joined(call, "writes");
  for (size_t r = 0; r < out.size(); ++r) {
    if (!kernel->results[r].alias) continue;
    for (size_t p = 0; p < in.size(); ++p) {
      if (kernel->value(kernel->params[p].value).name != *kernel->results[r].alias) continue;
      if (in[p].operand->value == out[r].operand->value) continue;
      return Violation{fmt::format("launch of @{} passes another buffer for a result that is "
                                   "alias(%{}); pass the parameter's buffer as rw",
                                   kernel->name, *kernel->results[r].alias),
                       static_cast<int>(out[r].index)};
    }
  }
  return std::nullopt;
}

}  // namespace

OpRecord op_launch() {
  return {
      .mnemonic = "launch",
      .op_class = OpClass::kHost,
      .shape = OpShape::kHost,
      .role = HostRole::kLaunch,
      .summary = "Runs a kernel on this rank's parts of buffers.",
      .doc = {.shapes = "Operands and the kernel's parameters and results have the same global "
                        "shapes; symbolic sizes of the kernel are bound here.",
              .sharding = "Each operand's own: the kernel learns box and global shape from the "
                          "layout.",
              .dtypes = "The dtypes of the kernel.",
              .cost = "The kernel's flops and bytes by the machine, plus launch_ns."},
      .operands = {{.name = "reads",
                    .doc = "bound to parameters",
                    .arity = OperandSpec::Arity::kVariadic,
                    .access = Access::kRead},
                   {.name = "writes",
                    .doc = "bound to results, all of it overwritten",
                    .arity = OperandSpec::Arity::kVariadic,
                    .access = Access::kWrite},
                   {.name = "updates",
                    .doc = "bound to a parameter and a result each",
                    .arity = OperandSpec::Arity::kVariadic,
                    .access = Access::kReadWrite},
                   {.name = "stream", .doc = "the stream that orders it"}},
      .attributes = {{.name = "kernel",
                      .type = AttributeSpec::Type::kSymbol,
                      .doc = "the kernel function",
                      .required = true}},
      .results = ops::event_result(),
      .constraints =
          {{"launch_c1", "The last operand is a stream, the others are buffers.",
            check_launch_operands},
           {"launch_c2", "The symbol names a kernel.", check_kernel},
           {"launch_c3",
            "There are as many reads and updates as parameters, and as many writes and updates as "
            "results.",
            check_launch_counts},
           {"launch_c4", "Operands have the dtypes and shapes of the kernel.", check_types},
           {"launch_c5",
            "Written buffers share no element with other operands; use rw to update in place.",
            check_overlap},
           {"launch_c6",
            "A result of the kernel that is an alias is bound to its parameter's buffer.",
            check_aliases}},
      .gradient = ops::kNoHostGradient,
      .example = R"(mesh @m = <x=2>
kernel @double(%x: tensor<4xf32>) -> (%y: tensor<4xf32>) {
  %y = add %x, %x
  return %y
}
host @f on @m (%a: tensor<4xf32>) -> (%b: tensor<4xf32>) {
  %s = stream "compute"
  %b = alloc on %s : tensor<4xf32>
  launch @double ro(%a) wo(%b) on %s
  return %b
})",
      .source = "Equivalent to: cudaLaunchKernel",
      .assembly = "#kernel $reads $writes $updates on $stream",
  };
}

}  // namespace hostir
