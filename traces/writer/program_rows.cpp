// Instructions, stack frames, kernels, tensors and communication sites.

#include "traces/database/static_rows.h"

namespace hostir::traces {

namespace {

void bind_or_null(Statement& statement, int index, int64_t value) {
  value >= 0 ? statement.bind_int(index, value) : statement.bind_null(index);
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

Expected<void> write_instruction_rows(Database& database, const ProgramDescription& program) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT INTO instruction (id, content_key, address, op, op_class, text, "
                       "line, kernel, stream, communicator, from_ops) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(Statement frame,
                          database.prepare("INSERT INTO frame VALUES (?, ?, ?, ?, ?)"));
  for (size_t index = 0; index < program.instructions.size(); ++index) {
    const InstructionDescription& i = program.instructions[index];
    s.bind_int(1, static_cast<int64_t>(index));
    s.bind_int(2, static_cast<int64_t>(i.content_key));
    bind_text_or_null(s, 3, i.address);
    bind_text_or_null(s, 4, i.mnemonic);
    s.bind_text(5, i.op_class == OpClass::kCommunication ? "communication" : "host");
    bind_text_or_null(s, 6, i.text);
    i.line > 0 ? s.bind_int(7, i.line) : s.bind_null(7);
    bind_text_or_null(s, 8, i.kernel);
    bind_or_null(s, 9, i.stream);
    bind_or_null(s, 10, i.communicator);
    bind_text_or_null(s, 11, i.from);
    HOSTIR_TRY(s.run());
    for (size_t depth = 0; depth < i.frames.size(); ++depth) {
      const model::StackFrame& f = i.frames[depth];
      frame.bind_int(1, static_cast<int64_t>(index));
      frame.bind_int(2, static_cast<int64_t>(depth));
      bind_text_or_null(frame, 3, f.function);
      bind_text_or_null(frame, 4, f.place.file);
      f.place.line ? frame.bind_int(5, *f.place.line) : frame.bind_null(5);
      HOSTIR_TRY(frame.run());
    }
  }
  return {};
}

Expected<void> write_kernel_rows(Database& database, const ProgramDescription& program,
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
    if (k.code >= program.instructions.size()) continue;
    const InstructionDescription& launch = program.instructions[k.code];
    HOSTIR_ASSIGN_OR_RETURN(const int64_t ops, strings.intern(launch.fused_ops));
    s.bind_int(1, k.code);
    s.bind_int(2, k.rank);
    s.bind_text(3, launch.kernel);
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

Expected<void> write_tensor_rows(Database& database, const ProgramDescription& program) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement tensor,
      database.prepare("INSERT INTO tensor (id, content_key, function, name, role, dtype, shape, "
                       "sharding) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"));
  HOSTIR_ASSIGN_OR_RETURN(Statement shard,
                          database.prepare("INSERT INTO shard (tensor, rank, offset, local_shape, "
                                           "bytes) VALUES (?, ?, ?, ?, ?)"));
  for (size_t id = 0; id < program.tensors.size(); ++id) {
    const TensorDescription& t = program.tensors[id];
    const std::string shape = t.extents ? extents_text(*t.extents) : std::string();
    tensor.bind_int(1, static_cast<int64_t>(id));
    tensor.bind_int(2, static_cast<int64_t>(t.content_key));
    tensor.bind_text(3, t.function);
    tensor.bind_text(4, t.name);
    tensor.bind_text(5, t.role);
    tensor.bind_text(6, name(t.dtype));
    t.extents ? tensor.bind_text(7, shape) : tensor.bind_null(7);
    t.sharding ? tensor.bind_text(8, *t.sharding) : tensor.bind_null(8);
    HOSTIR_TRY(tensor.run());
    for (size_t rank = 0; rank < t.boxes.size(); ++rank) {
      const std::string offset = extents_text(t.boxes[rank].lo);
      const std::string local = extents_text(t.boxes[rank].extents());
      shard.bind_int(1, static_cast<int64_t>(id));
      shard.bind_int(2, static_cast<int64_t>(rank));
      shard.bind_text(3, offset);
      shard.bind_text(4, local);
      shard.bind_int(5, t.local_bytes[rank]);
      HOSTIR_TRY(shard.run());
    }
  }
  return {};
}

Expected<void> write_collective_site_rows(Database& database, const ProgramDescription& program) {
  HOSTIR_ASSIGN_OR_RETURN(
      Statement s,
      database.prepare("INSERT INTO collective_site (instruction, rank, kind, reduction, dtype, "
                       "element_bytes, root, send_tensor, recv_tensor, group_index, member_count, "
                       "count_parts, bus_factor, group_instruction) "
                       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"));
  for (const CollectiveSite& site : program.sites) {
    s.bind_int(1, site.instruction);
    s.bind_int(2, site.rank);
    bind_text_or_null(s, 3, site.kind);
    site.reduction ? s.bind_text(4, name(*site.reduction)) : s.bind_null(4);
    site.dtype ? s.bind_text(5, name(*site.dtype)) : s.bind_null(5);
    site.dtype ? s.bind_int(6, size_bytes(*site.dtype)) : s.bind_null(6);
    bind_text_or_null(s, 7, site.root);
    bind_or_null(s, 8, site.send_tensor);
    bind_or_null(s, 9, site.recv_tensor);
    s.bind_int(10, site.group);
    site.members > 0 ? s.bind_int(11, site.members) : s.bind_null(11);
    s.bind_int(12, site.count_parts);
    s.bind_real(13, site.bus_factor);
    bind_or_null(s, 14, site.group_instruction);
    HOSTIR_TRY(s.run());
  }
  return {};
}

}  // namespace hostir::traces
