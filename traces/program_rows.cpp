// Instructions, kernels and communication sites.

#include <fmt/core.h>

#include <algorithm>

#include "hostir/ops/collective_cost.h"
#include "hostir/ops/record.h"
#include "traces/compression.h"
#include "traces/static_rows.h"

namespace hostir::traces {

using interp::Code;
using interp::CodeIndex;
using interp::CodeInstruction;

namespace {

void bind_text_or_null(Statement& statement, int index, std::string_view text) {
  if (text.empty()) {
    statement.bind_null(index);
  } else {
    statement.bind_text(index, text);
  }
}

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
uint64_t content_key(const Code& code, CodeIndex index) {
  const CodeInstruction& c = code.instructions[index];
  const Function& function = *code.functions[c.function];
  const auto stem = [&](const Instruction& instruction) {
    const std::string* label = instruction.attributes.get<std::string>("label");
    const std::string name = label != nullptr ? *label
                             : instruction.results.empty()
                                 ? std::string()
                                 : function.value(instruction.results[0]).name;
    return fmt::format("{}/{}", name, record(instruction.kind).mnemonic);
  };
  const std::string own = stem(function.instr(c.instr));
  size_t ordinal = 0;
  for (const InstrId id : function.preorder()) {
    if (id == c.instr) break;
    if (stem(function.instr(id)) == own) ++ordinal;
  }
  return digest_of(fmt::format("{}/{}/{}", function.name, own, ordinal));
}

bool is_communication(const CodeInstruction& c) {
  return record(c.kind).op_class == OpClass::kCommunication;
}

std::string position_text(const Instruction& instruction) {
  for (const std::string_view name : {"root", "peer", "shift"}) {
    if (const IndexExpr* expr = instruction.attributes.get<IndexExpr>(name)) {
      return expr->to_string();
    }
  }
  return {};
}

std::string fused_ops(const Code& code, const std::string& kernel) {
  std::string out;
  const Function* function =
      code.program != nullptr ? code.program->find_function(kernel) : nullptr;
  if (function == nullptr) return out;
  for (const InstrId id : function->preorder()) {
    const OpRecord& op = record(function->instr(id).kind);
    if (op.op_class != OpClass::kCompute) continue;
    out += fmt::format("{}{}", out.empty() ? "" : " ", op.mnemonic);
  }
  return out;
}

DType buffer_dtype(const Code& code, const CodeInstruction& c) {
  for (const interp::LayoutIndex layout : c.layouts) {
    if (layout < code.layouts.size()) return dtype_of(code.layouts[layout].type);
  }
  return DType::kU8;
}

}  // namespace

Expected<int64_t> StringTable::intern(const std::string& text) {
  const auto [entry, added] = ids_.emplace(text, static_cast<int64_t>(ids_.size()) + 1);
  if (added) {
    HOSTIR_ASSIGN_OR_RETURN(Statement s, database_.prepare("INSERT INTO string VALUES (?, ?)"));
    s.bind_int(1, entry->second);
    s.bind_text(2, text);
    HOSTIR_TRY(s.run());
  }
  return entry->second;
}

Expected<void> write_instruction_rows(Database& database, const RunDescription& run) {
  const Code& code = *run.code;
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT INTO instruction (id, content_key, address, op, op_class, text, "
                       "line, kernel, stream, communicator, from_ops) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (CodeIndex index = 0; index < code.instructions.size(); ++index) {
    const CodeInstruction& c = code.instructions[index];
    const Instruction& source = code.source(index);
    const uint32_t line = index < run.lines.size() ? run.lines[index] : 0;
    const std::string text =
        index < run.instruction_texts.size() ? run.instruction_texts[index] : std::string();
    const std::string address = code.address(index);
    const std::string kernel = kernel_symbol(source);
    const std::string from = from_text(source);
    s.bind_int(1, index);
    s.bind_int(2, static_cast<int64_t>(content_key(code, index)));
    s.bind_text(3, address);
    s.bind_text(4, record(c.kind).mnemonic);
    s.bind_text(5, is_communication(c) ? "communication" : "host");
    bind_text_or_null(s, 6, text);
    line > 0 ? s.bind_int(7, line) : s.bind_null(7);
    bind_text_or_null(s, 8, kernel);
    c.stream < code.streams.size() ? s.bind_int(9, c.stream) : s.bind_null(9);
    c.comm < code.communicators.size() ? s.bind_int(10, c.comm) : s.bind_null(10);
    bind_text_or_null(s, 11, from);
    HOSTIR_TRY(s.run());
  }
  return {};
}

Expected<void> write_kernel_rows(Database& database, const Code& code,
                                 const std::vector<KernelDescription>& kernels) {
  if (kernels.empty()) return {};
  StringTable strings(database);
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT OR REPLACE INTO kernel (instruction, rank, name, fused_ops, "
                       "implementation, flops, read_bytes, write_bytes, limit_ns) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  const auto bind_positive = [&](int index, double value) {
    value > 0 ? s.bind_real(index, value) : s.bind_null(index);
  };
  for (const KernelDescription& k : kernels) {
    if (k.code >= code.instructions.size()) continue;
    const std::string kernel = kernel_symbol(code.source(k.code));
    HOSTIR_ASSIGN_OR_RETURN(const int64_t ops, strings.intern(fused_ops(code, kernel)));
    s.bind_int(1, k.code);
    s.bind_int(2, k.rank);
    s.bind_text(3, kernel);
    s.bind_int(4, ops);
    if (k.implementation.empty()) {
      s.bind_null(5);
    } else {
      HOSTIR_ASSIGN_OR_RETURN(const int64_t id, strings.intern(k.implementation));
      s.bind_int(5, id);
    }
    bind_positive(6, k.flops);
    bind_positive(7, k.read_bytes);
    bind_positive(8, k.write_bytes);
    bind_positive(9, k.limit_ns);
    HOSTIR_TRY(s.run());
  }
  return {};
}

Expected<void> write_collective_site_rows(Database& database, const RunDescription& run,
                                          const TensorIndex& tensors) {
  const Code& code = *run.code;
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT INTO collective_site (instruction, rank, kind, reduction, dtype, "
                       "element_bytes, root, send_tensor, recv_tensor, group_index, member_count, "
                       "count_parts, bus_factor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (CodeIndex index = 0; index < code.instructions.size(); ++index) {
    const CodeInstruction& c = code.instructions[index];
    if (!is_communication(c) || c.comm >= code.communicators.size()) continue;
    const interp::Communicator& comm = code.communicators[c.comm];
    const Instruction& source = code.source(index);
    const Reduction* reduction = source.attributes.get<Reduction>("reduction");
    const DType dtype = buffer_dtype(code, c);
    const std::string root = position_text(source);
    for (interp::Rank rank = 0; rank < code.rank_count; ++rank) {
      const int32_t group = comm.group_of_rank[static_cast<size_t>(rank)];
      if (group < 0) continue;
      const auto members = static_cast<int64_t>(comm.groups[static_cast<size_t>(group)].size());
      const double factor = wire_bytes(c.kind, 1.0, members);
      const int64_t recv = tensors.written(index, 0);
      const int64_t send = tensors.sent(index);
      s.bind_int(1, index);
      s.bind_int(2, rank);
      s.bind_text(3, record(c.kind).mnemonic);
      reduction != nullptr ? s.bind_text(4, name(*reduction)) : s.bind_null(4);
      s.bind_text(5, name(dtype));
      s.bind_int(6, size_bytes(dtype));
      bind_text_or_null(s, 7, root);
      send >= 0 ? s.bind_int(8, send) : s.bind_null(8);
      recv >= 0 ? s.bind_int(9, recv) : s.bind_null(9);
      s.bind_int(10, group);
      s.bind_int(11, members);
      // nccl-tests counts the bytes of all ranks exactly where the factor is (n-1)/n.
      s.bind_int(12, factor < 1 && members > 1 ? members : 1);
      s.bind_real(13, factor);
      HOSTIR_TRY(s.run());
    }
  }
  return {};
}

}  // namespace hostir::traces
