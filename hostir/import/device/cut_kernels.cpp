// Cuts a flat function into kernels between its collectives.

#include <fmt/format.h>

#include <algorithm>

#include "hostir/import/device/device_ops.h"

namespace hostir::importer {

namespace {

// Builds one kernel from instructions of the flat function, with `inputs` as its parameters.
Function kernel_of(const Function& flat, const std::vector<InstrId>& instructions,
                   const std::vector<ValueId>& inputs, const std::vector<ValueId>& results,
                   std::string name) {
  Function kernel;
  kernel.kind = FunctionKind::kKernel;
  kernel.name = std::move(name);
  kernel.body = kernel.add_region();
  std::vector<ValueId> place(flat.values.size());
  for (const ValueId input : inputs) {
    place[input.index] = kernel.add_value(flat.value(input).name, flat.value(input).type);
    kernel.params.push_back({place[input.index], false});
  }
  for (const InstrId id : instructions) {
    Instruction copy = flat.instr(id);
    for (Operand& operand : copy.operands) operand.value = place[operand.value.index];
    for (ValueId& result : copy.results) {
      const Value& value = flat.value(result);
      result = place[result.index] = kernel.add_value(value.name, value.type);
    }
    kernel.add_instruction(kernel.body, std::move(copy));
  }
  Instruction end;
  end.kind = OpKind::return_;
  for (const ValueId result : results) {
    Operand operand;
    operand.value = place[result.index];
    end.operands.push_back(operand);
    kernel.results.push_back({flat.value(result).name, flat.value(result).type, std::nullopt, {}});
  }
  kernel.add_instruction(kernel.body, std::move(end));
  return kernel;
}

Function device_kernel(const std::string& name, DType dtype, int64_t ranks) {
  Function kernel;
  kernel.kind = FunctionKind::kKernel;
  kernel.name = name;
  kernel.body = kernel.add_region();
  const TensorType type{dtype, {IndexExpr(ranks)}, std::nullopt};
  const ValueId value = kernel.add_value("rank", type);
  kernel.results.push_back({"rank", type, std::nullopt, {}});
  Instruction iota;
  iota.kind = OpKind::iota;
  iota.attributes.set("dim", int64_t{0});
  iota.results = {value};
  kernel.add_instruction(kernel.body, std::move(iota));
  Instruction end;
  end.kind = OpKind::return_;
  Operand operand;
  operand.value = value;
  end.operands = {operand};
  kernel.add_instruction(kernel.body, std::move(end));
  return kernel;
}

constexpr size_t kNearCollectives = 8;  // how far apart collectives may be to be joined

bool any_of_values(const std::vector<bool>& set, const std::vector<ValueId>& values) {
  return std::any_of(values.begin(), values.end(), [&](ValueId v) { return set[v.index]; });
}

bool may_join(const Function& flat, const DeviceOp& a, const DeviceOp& b) {
  const LocalStep& x = a.step;
  const LocalStep& y = b.step;
  if (x.kind != LocalStep::Kind::kCollective || y.kind != x.kind || x.op != y.op) return false;
  if (x.op != OpKind::all_reduce && x.op != OpKind::all_gather && x.op != OpKind::reduce_scatter)
    return false;
  const auto dtype = [&](const DeviceOp& op) {
    return std::get<TensorType>(flat.value(op.inputs.front()).type).dtype;
  };
  return x.attributes == y.attributes && x.groups == y.groups && dtype(a) == dtype(b);
}

}  // namespace

// Joins a collective to a later one of the same kind if nothing up to there needs its results: the
// call is then issued once, in place of the later one. Compilers do the same. Returns for each
// value the number of collectives that must come before its use.
std::vector<size_t> DeviceOps::join_collectives(const Function& flat) {
  const auto depends_on = [&](size_t early, size_t late) {
    std::vector<bool> tainted(flat.values.size(), false);
    for (const ValueId value : ops_[early].outputs) tainted[value.index] = true;
    size_t next = early + 1;
    const auto& list = flat.region(flat.body).instructions;
    auto at = std::lower_bound(list.begin(), list.end(), ops_[early].position,
                               [](InstrId id, size_t position) { return id.index < position; });
    for (; at != list.end(); ++at) {
      const InstrId id = *at;
      while (next < late && ops_[next].position <= id.index) {
        if (any_of_values(tainted, ops_[next].inputs)) return true;
        ++next;
      }
      if (id.index >= ops_[late].position) break;
      const Instruction& instruction = flat.instr(id);
      const bool reads =
          std::any_of(instruction.operands.begin(), instruction.operands.end(),
                      [&](const Operand& operand) { return tainted[operand.value.index]; });
      for (const ValueId result : instruction.results) {
        if (reads) tainted[result.index] = true;
      }
    }
    for (; next <= late; ++next) {
      if (any_of_values(tainted, ops_[next].inputs)) return true;
    }
    return false;
  };
  for (size_t late = 1; late < ops_.size(); ++late) {
    for (size_t early = late; early-- > 0 && late - early <= kNearCollectives;) {
      if (!may_join(flat, ops_[early], ops_[late]) || depends_on(early, late)) continue;
      DeviceOp& to = ops_[late];
      DeviceOp& from = ops_[early];
      to.inputs.insert(to.inputs.begin(), from.inputs.begin(), from.inputs.end());
      to.outputs.insert(to.outputs.begin(), from.outputs.begin(), from.outputs.end());
      ops_.erase(ops_.begin() + static_cast<std::ptrdiff_t>(early));
      --late;
    }
  }
  std::vector<size_t> first_run(flat.values.size(), 0);
  for (size_t op = 0; op < ops_.size(); ++op) {
    for (const ValueId value : ops_[op].outputs) first_run[value.index] = op + 1;
  }
  return first_run;
}

Expected<void> DeviceOps::cut(Function& flat, const std::vector<ValueId>& returned,
                              Program& program, LocalProgram& local,
                              std::vector<std::optional<LocalValue>>& numbers) {
  numbers.resize(flat.values.size());
  const auto number = [&](ValueId value) {
    if (!numbers[value.index]) {
      numbers[value.index] =
          local.add(flat.value(value).name, std::get<TensorType>(flat.value(value).type));
    }
    return *numbers[value.index];
  };
  // 1. Values that must be stored: inputs of collectives and returned values. Then find the values
  //    that live instructions use.
  std::vector<bool> stored(flat.values.size(), false);
  std::vector<bool> used(flat.values.size(), false);
  for (const ValueId value : returned) stored[value.index] = used[value.index] = true;
  for (const DeviceOp& op : ops_) {
    for (const ValueId value : op.inputs) stored[value.index] = used[value.index] = true;
  }
  const auto& all = flat.region(flat.body).instructions;
  std::vector<InstrId> live;
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    const Instruction& instruction = flat.instr(*it);
    if (std::none_of(instruction.results.begin(), instruction.results.end(),
                     [&](ValueId v) { return used[v.index]; }))
      continue;
    for (const Operand& operand : instruction.operands) used[operand.value.index] = true;
    live.push_back(*it);
  }
  std::reverse(live.begin(), live.end());
  // 2. The run of each instruction is the number of collectives before it, or more if it needs one
  //    that was joined to a later one. An instruction without operands is repeated in every run
  //    that needs it, unless its value must be stored.
  const std::vector<size_t> first_run = join_collectives(flat);
  constexpr size_t kAnyRun = SIZE_MAX;
  std::vector<size_t> run_of(flat.values.size(), kAnyRun);
  std::vector<std::vector<InstrId>> runs(ops_.size() + 1);
  for (const InstrId id : live) {
    const Instruction& instruction = flat.instr(id);
    const bool repeated = instruction.operands.empty() &&
                          std::none_of(instruction.results.begin(), instruction.results.end(),
                                       [&](ValueId v) { return stored[v.index]; });
    if (repeated) continue;
    size_t run = 0;
    while (run < ops_.size() && ops_[run].position <= id.index) ++run;
    for (const Operand& operand : instruction.operands) {
      const size_t value = operand.value.index;
      run = std::max(run, first_run[value]);
      if (run_of[value] != kAnyRun) run = std::max(run, run_of[value]);
    }
    runs[run].push_back(id);
    for (const ValueId result : instruction.results) run_of[result.index] = run;
  }
  for (size_t run = 0; run < runs.size(); ++run) {
    for (const InstrId id : runs[run]) {
      for (const Operand& operand : flat.instr(id).operands) {
        const size_t from = run_of[operand.value.index];
        if (from != kAnyRun && from != run) stored[operand.value.index] = true;
      }
    }
  }
  // 3. One kernel per run, followed by the collective.
  for (size_t run = 0; run < runs.size(); ++run) {
    std::vector<InstrId> body;
    std::vector<ValueId> inputs;
    std::vector<ValueId> results;
    std::vector<bool> here(flat.values.size(), false);
    for (const InstrId id : runs[run]) {
      const Instruction& instruction = flat.instr(id);
      for (const Operand& operand : instruction.operands) {
        const ValueId value = operand.value;
        if (here[value.index]) continue;
        here[value.index] = true;
        const InstrId defined = flat.value(value).defined_by;
        if (defined.valid() && run_of[value.index] == kAnyRun)
          body.push_back(defined);
        else
          inputs.push_back(value);
      }
      body.push_back(id);
      for (const ValueId result : instruction.results) {
        here[result.index] = true;
        if (stored[result.index]) results.push_back(result);
      }
    }
    if (!results.empty()) {
      LocalStep step;
      step.place = flat.instr(runs[run].front()).span;
      step.kernel = ops_.empty() ? name_ : fmt::format("{}.k{}", name_, run);
      for (const ValueId value : inputs) step.inputs.push_back(number(value));
      for (const ValueId value : results) step.outputs.push_back(number(value));
      program.add_function(kernel_of(flat, body, inputs, results, step.kernel));
      local.steps.push_back(std::move(step));
    }
    if (run == ops_.size()) continue;
    DeviceOp& op = ops_[run];
    for (const ValueId value : op.inputs) op.step.inputs.push_back(number(value));
    for (const ValueId value : op.outputs) op.step.outputs.push_back(number(value));
    if (op.step.kind == LocalStep::Kind::kDevice) {
      const auto dtype = std::get<TensorType>(flat.value(op.outputs[0]).type).dtype;
      program.add_function(device_kernel(op.step.kernel, dtype, world_.size()));
    }
    if (op.step.kind == LocalStep::Kind::kLoop)
      HOSTIR_TRY(cut_loop(op, program, local, numbers, op.step));
    local.steps.push_back(op.step);
  }
  for (const ValueId value : returned) number(value);
  return {};
}

}  // namespace hostir::importer
