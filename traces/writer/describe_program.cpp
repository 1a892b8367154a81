// A compiled program as plain data: instructions, tensors, communication sites.

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "hostir/ops/collective_cost.h"
#include "hostir/ops/position_attribute.h"
#include "hostir/ops/record.h"
#include "hostir/support/hash.h"
#include "interp/core/code/code.h"
#include "traces/writer/run_description.h"

namespace hostir::traces {

using interp::Code;
using interp::CodeIndex;
using interp::CodeInstruction;
using interp::LayoutIndex;

namespace {

std::string kernel_symbol(const Instruction& instruction) {
  const Symbol* kernel = instruction.attributes.get<Symbol>("kernel");
  return kernel != nullptr ? kernel->name : std::string();
}

std::string from_text(const Instruction& instruction) {
  std::string out;
  for (const OpRef& ref : instruction.from) {
    out += fmt::format("{}@{}#{}", out.empty() ? "" : ", ", ref.function, ref.number);
  }
  return out;
}

/// What survives edits of a program: function, result name or label, op, ordinal among equals.
class ContentKeys {
 public:
  explicit ContentKeys(const Code& code) : code_(code), keys_(code.functions.size()) {}

  uint64_t of(const CodeInstruction& c) {
    std::vector<uint64_t>& keys = keys_[c.function];
    if (keys.empty()) keys = keys_of(*code_.functions[c.function]);
    return keys[c.instr.index];
  }

 private:
  static std::string stem(const Function& function, const Instruction& instruction) {
    const std::string* label = instruction.attributes.get<std::string>("label");
    const std::string name = label != nullptr ? *label
                             : instruction.results.empty()
                                 ? std::string()
                                 : function.value(instruction.results[0]).name;
    return fmt::format("{}/{}", name, record(instruction.kind).mnemonic);
  }

  static std::vector<uint64_t> keys_of(const Function& function) {
    std::vector<uint64_t> keys(function.instructions.size());
    std::unordered_map<std::string, size_t> seen;
    for (const InstrId id : function.preorder()) {
      const std::string own = stem(function, function.instr(id));
      keys[id.index] = hash_of(fmt::format("{}/{}/{}", function.name, own, seen[own]++));
    }
    return keys;
  }

  const Code& code_;
  std::vector<std::vector<uint64_t>> keys_;  // by function and InstrId
};

bool is_communication(const CodeInstruction& c) {
  return record(c.kind).op_class == OpClass::kCommunication;
}

std::string position_text(const Instruction& instruction) {
  const AttributeSpec* spec = position_attribute(instruction.kind);
  const auto* expr = spec ? instruction.attributes.get<IndexExpr>(spec->name) : nullptr;
  return expr ? expr->to_string() : std::string();
}

/// By kernel.
std::unordered_map<std::string_view, std::string> fused_ops(const Program* program) {
  std::unordered_map<std::string_view, std::string> out;
  if (program == nullptr) return out;
  for (const Function& function : program->functions) {
    const auto [at, added] = out.try_emplace(function.name);
    if (!added) continue;
    for (const InstrId id : function.preorder()) {
      const OpRecord& op = record(function.instr(id).kind);
      if (op.op_class != OpClass::kCompute) continue;
      at->second += fmt::format("{}{}", at->second.empty() ? "" : " ", op.mnemonic);
    }
  }
  return out;
}

DType buffer_dtype(const Code& code, const CodeInstruction& c) {
  for (const interp::LayoutIndex layout : c.layouts) {
    if (layout < code.layouts.size()) return dtype_of(code.layouts[layout].type);
  }
  return DType::kU8;
}

std::string axes_text(const Mesh& mesh) {
  std::string out;
  for (const MeshAxis& axis : mesh.axes) {
    out += fmt::format("{}{}={}", out.empty() ? "" : ", ", axis.name, axis.size);
  }
  return out;
}

std::string_view role_of(const Function& function, ValueId value) {
  for (const Parameter& parameter : function.params) {
    if (parameter.value == value) return "parameter";
  }
  const InstrId made_by = function.value(value).defined_by;
  if (!made_by.valid()) return "buffer";
  const OpRecord& op = record(function.instr(made_by).kind);
  return !op.results.empty() && op.results[0].name == "view" ? "view" : "buffer";
}

/// Lists every buffer name with each of its layouts. A call that is inlined twice shares its names.
class TensorLister {
 public:
  TensorLister(const Code& code, ProgramDescription& out) : code_(code), out_(out) {
    for (const interp::RegisterInfo& info : code_.registers) {
      if (info.buffer) index_of(info.function, info.value, info.layout);
    }
  }

  void list(const CodeInstruction& c, InstructionDescription& site) {
    const Instruction& source = code_.functions[c.function]->instr(c.instr);
    // An alloc counts as a write of its result.
    const bool makes = c.result_layout != interp::kNoLayout && !source.results.empty() &&
                       source.operands.size() == c.operands.size();
    for (size_t k = 0; k < source.operands.size() && k < c.layouts.size(); ++k) {
      const Operand& operand = source.operands[k];
      if (operand.access == Access::kUse || !operand.value.valid()) continue;
      const bool changes = k < c.becomes.size() && c.becomes[k] != interp::kNoLayout;
      const int64_t before = index_of(c.function, operand.value, c.layouts[k]);
      if (site.read < 0 && operand.access != Access::kWrite) site.read = before;
      if (operand.access == Access::kRead) continue;
      site.written.push_back(changes ? index_of(c.function, operand.value, c.becomes[k]) : before);
    }
    if (makes && site.written.empty())
      site.written.push_back(index_of(c.function, source.results[0], c.result_layout));
  }

 private:
  /// -1 if the layout is unknown.
  int64_t index_of(uint32_t function_index, ValueId value, LayoutIndex layout) {
    if (layout >= code_.layouts.size()) return -1;
    const Function& function = *code_.functions[function_index];
    const interp::LayoutTable& table = code_.layouts[layout];
    const std::string& name = function.value(value).name;
    const std::string key = fmt::format("{}/{}/{}", function.name, name, to_string(table.type));
    const auto [entry, added] = ids_.emplace(key, static_cast<int64_t>(ids_.size()));
    if (!added) return entry->second;
    TensorDescription& tensor = out_.tensors.emplace_back();
    tensor.content_key = hash_of(key);
    tensor.function = function.name;
    tensor.name = name;
    tensor.role = role_of(function, value);
    tensor.dtype = dtype_of(table.type);
    if (!table.by_rank.empty()) tensor.extents = table.by_rank[0].global;
    if (const Sharding* sharding = sharding_of(table.type)) tensor.sharding = sharding->to_string();
    for (size_t rank = 0; rank < table.by_rank.size(); ++rank) {
      const Placement& placement = table.by_rank[rank];
      tensor.boxes.push_back(placement.box);
      tensor.local_bytes.push_back(placement.local_bytes());
    }
    return entry->second;
  }

  const Code& code_;
  ProgramDescription& out_;
  std::map<std::string, int64_t> ids_;
};

void list_instructions(const Code& code, ProgramDescription& out) {
  TensorLister tensors(code, out);
  ContentKeys keys(code);
  const auto ops = fused_ops(code.program.get());
  for (CodeIndex index = 0; index < code.instructions.size(); ++index) {
    const CodeInstruction& c = code.instructions[index];
    const Instruction& source = code.source(index);
    InstructionDescription i;
    i.content_key = keys.of(c);
    i.address = code.address(index);
    i.mnemonic = record(c.kind).mnemonic;
    // A group is the one task of the collectives in it.
    const bool communicates = is_communication(c) || record(c.kind).role == HostRole::kGroup;
    i.op_class = communicates ? OpClass::kCommunication : OpClass::kHost;
    i.kernel = kernel_symbol(source);
    if (const auto found = ops.find(i.kernel); found != ops.end()) i.fused_ops = found->second;
    i.from = from_text(source);
    if (c.stream < code.streams.size()) i.stream = static_cast<int32_t>(c.stream);
    if (c.comm < code.communicators.size()) i.communicator = static_cast<int32_t>(c.comm);
    tensors.list(c, i);
    out.instructions.push_back(std::move(i));
  }
}

void list_sites(const Code& code, ProgramDescription& out) {
  for (CodeIndex index = 0; index < code.instructions.size(); ++index) {
    const CodeInstruction& c = code.instructions[index];
    if (!is_communication(c) || c.comm >= code.communicators.size()) continue;
    const interp::Communicator& comm = code.communicators[c.comm];
    const Instruction& source = code.source(index);
    const InstructionDescription& described = out.instructions[index];
    for (interp::Rank rank = 0; rank < code.rank_count; ++rank) {
      const int32_t group = comm.group_of_rank[static_cast<size_t>(rank)];
      if (group < 0) continue;
      CollectiveSite site;
      site.instruction = index;
      site.rank = rank;
      site.kind = described.mnemonic;
      if (const auto* reduction = source.attributes.get<Reduction>("reduction"))
        site.reduction = *reduction;
      site.dtype = buffer_dtype(code, c);
      site.root = position_text(source);
      site.send_tensor = described.read;
      site.recv_tensor = described.written.empty() ? -1 : described.written[0];
      site.group = group;
      if (c.group != interp::kNoCode) site.group_instruction = c.group;
      site.members = static_cast<int64_t>(comm.groups[static_cast<size_t>(group)].size());
      site.bus_factor = wire_bytes(c.kind, 1.0, site.members);
      // nccl-tests counts the bytes of all ranks exactly if the factor is (n-1)/n.
      if (site.bus_factor < 1 && site.members > 1) site.count_parts = site.members;
      out.sites.push_back(std::move(site));
    }
  }
}

}  // namespace

ProgramDescription describe_program(const Code& code) {
  ProgramDescription out;
  out.entry = code.entry;
  out.rank_count = code.rank_count;
  if (code.world != nullptr) {
    for (interp::Rank rank = 0; rank < code.rank_count; ++rank)
      out.positions.push_back(code.world->position_of(rank).value_or(rank));
  }
  if (code.program != nullptr) {
    for (const Mesh& mesh : code.program->meshes) {
      const bool world = code.world != nullptr && code.world->name == mesh.name;
      out.meshes.push_back(
          {mesh.name, axes_text(mesh), {mesh.device_ids.begin(), mesh.device_ids.end()}, world});
    }
  }
  for (const auto& [name, value] : code.sizes.all()) out.sizes.emplace_back(name, value);
  out.streams = code.streams;
  for (const interp::Communicator& comm : code.communicators) {
    std::string axes;
    for (const AxisRef& axis : comm.axes) axes += (axes.empty() ? "" : ", ") + axis.to_string();
    if (!axes.empty()) axes = "{" + axes + "}";
    out.communicators.push_back({comm.name, std::move(axes), comm.groups, comm.content_key});
  }
  list_instructions(code, out);
  list_sites(code, out);
  return out;
}

}  // namespace hostir::traces
